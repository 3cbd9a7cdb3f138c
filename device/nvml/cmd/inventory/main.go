// Inventory prints the GPUs of this machine, as the NVIDIA driver describes them, or
// the GPUs of a sample node, from its labels, where there is no driver. It asks the
// driver if it is built with cgo, on Linux.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"

	"github.com/resvec/resvec/device"
	"github.com/resvec/resvec/device/nvml"
	"github.com/resvec/resvec/vectormap"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

//go:embed node.yaml
var sampleNode []byte

func main() {
	log.SetFlags(0)
	log.SetPrefix("inventory: ")
	sample := flag.Bool("sample", false, "print the sample node even if there is a driver")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), `usage: inventory [flags]

Prints the GPUs of this machine, or of a sample node where there is no driver:

	go run ./device/nvml/cmd/inventory -sample

The exit status is 1 when the driver fails and 2 for wrong flags.

`)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "inventory: unexpected argument %q (-help lists the flags)\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(os.Stdout, *sample, nvml.Open); err != nil {
		log.Fatal(err)
	}
}

// run prints the devices of this machine, or of the sample node if that is asked
// for or open finds no driver.
func run(out io.Writer, sample bool, open func() (nvml.Library, error)) error {
	if sample {
		return printSample(out, "as asked for")
	}
	library, err := open()
	if err != nil {
		return printSample(out, err.Error())
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	node, err := nvml.Collect(library, host, nvml.CollectOptions{Topology: nvml.SysfsTopology})
	if err != nil {
		return err
	}
	fmt.Fprint(out, "The GPUs of this machine, from its driver.\n\n")
	return printNode(out, &node)
}

// printSample prints the sample node.
func printSample(out io.Writer, why string) error {
	var node corev1.Node
	if err := yaml.UnmarshalStrict(sampleNode, &node); err != nil {
		return err
	}
	inventory, err := device.FromNodes([]corev1.Node{node}, nil, device.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "The GPUs of a sample node, from its labels (%s).\n\n", why)
	return printNode(out, &inventory.Nodes[0])
}

// printNode prints the devices, cards and problems of a node as tables.
func printNode(out io.Writer, n *device.Node) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row(w, "NODE", "DEVICE", "PRODUCT", "MEMORY", "SHARING", "NUMA", "PCIE ROOT", "HEALTH")
	for i := range n.Devices {
		d := &n.Devices[i]
		row(w, n.Name, name(d), orUnknown(d.Product), memory(d.MemoryBytes), sharing(d), numa(d.NUMANode), orUnknown(d.PCIeRoot), d.Health.String())
	}
	if len(n.Devices) == 0 {
		row(w, n.Name, "none")
	}
	section(w, len(n.Cards), "NODE", "CARD", "RESOURCE", "COUNT")
	for _, c := range n.Cards {
		row(w, n.Name, c.Name, orUnknown(string(c.Resource)), fmt.Sprint(c.Count))
	}
	section(w, len(n.Problems), "NODE", "PROBLEM", "WITH", "DETAIL")
	for _, p := range n.Problems {
		row(w, n.Name, string(p.Code), p.Key, p.Detail)
	}
	return w.Flush()
}

// section begins another table, if it has rows.
func section(w io.Writer, rows int, headings ...string) {
	if rows > 0 {
		fmt.Fprintln(w)
		row(w, headings...)
	}
}

// row prints the cells of a row.
func row(w io.Writer, cells ...string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, cell)
	}
	fmt.Fprintln(w)
}

// name returns what a device is called: by its minor, or, of a MIG instance, by
// its profile and the memory slot where it starts.
func name(d *device.Device) string {
	switch {
	case d.Profile != vectormap.MIGProfile{} && d.Start >= 0:
		return fmt.Sprintf("%s at %d", d.Profile, d.Start)
	case d.Profile != vectormap.MIGProfile{}:
		return d.Profile.String()
	case d.Minor >= 0:
		return fmt.Sprintf("%s %d", d.Kind, d.Minor)
	default:
		return d.Kind
	}
}

// memory formats an amount in GiB.
func memory(bytes int64) string {
	if bytes == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// sharing says how many pods may use a device, and how.
func sharing(d *device.Device) string {
	switch {
	case !d.Allocatable():
		return "cut by mig"
	case d.Replicas > 1:
		return fmt.Sprintf("%s, %d pods", d.Sharing, d.Replicas)
	default:
		return d.Sharing.String()
	}
}

func numa(node int32) string {
	if node < 0 {
		return "unknown"
	}
	return fmt.Sprint(node)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
