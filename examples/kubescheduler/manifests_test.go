package main

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"

	"github.com/resvec/resvec/internal/testkit"
)

// manifest returns the objects of a file, each with no field that its type lacks.
func manifest(t *testing.T, file string) []runtime.Object {
	t.Helper()
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var objects []runtime.Object
	for document := range strings.SplitSeq(string(testkit.Must(os.ReadFile(file))), "\n---\n") {
		object, _, err := decoder.Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, document)
		}
		objects = append(objects, object)
	}
	return objects
}

// only returns the object of a type.
func only[T runtime.Object](t *testing.T, objects []runtime.Object) T {
	t.Helper()
	var found []T
	for _, object := range objects {
		if x, ok := object.(T); ok {
			found = append(found, x)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T", len(found), *new(T))
	}
	return found[0]
}

// TestManifests: what the manifests say to each other and to the command fits. The tests of
// folder e2e create them in a cluster.
func TestManifests(t *testing.T) {
	pod := only[*corev1.Pod](t, manifest(t, "manifests/static-pod.yaml"))
	configuration := string(testkit.Must(os.ReadFile("manifests/config.yaml")))
	checkConfiguration(t, configuration, "default-scheduler", "kube-scheduler")
	paths := checkPod(t, &pod.Spec)
	if config := loadConfig(t, configuration).ClientConnection.Kubeconfig; !slices.Contains(paths, config) {
		t.Errorf("the kubeconfig %s is not mounted: %v", config, paths)
	}
	for i := range pod.Spec.Volumes {
		if host := pod.Spec.Volumes[i].HostPath; !slices.Contains(paths, host.Path) {
			t.Errorf("%s of the host is not mounted there", host.Path)
		}
	}

	second := manifest(t, "manifests/second-scheduler.yaml")
	const name, namespace = "resvec-scheduler", "kube-system"
	account, deployment, data := only[*corev1.ServiceAccount](t, second), only[*appsv1.Deployment](t, second), only[*corev1.ConfigMap](t, second)
	checkConfiguration(t, data.Data["scheduler.yaml"], name, name)
	template := &deployment.Spec.Template
	checkPod(t, &template.Spec)
	if volume := template.Spec.Volumes[0].ConfigMap; volume == nil || volume.Name != data.Name || data.Namespace != namespace || deployment.Namespace != namespace {
		t.Errorf("the Deployment does not mount the ConfigMap: %+v", volume)
	}
	if account.Name != name || account.Namespace != namespace || template.Spec.ServiceAccountName != account.Name {
		t.Errorf("the pods have another account: %+v", account)
	}
	checkRoles(t, second, rbacv1.Subject{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace})
}

// checkConfiguration: the command starts with the configuration, whose profile is that of
// scheduler.yaml but for its name.
func checkConfiguration(t *testing.T, configuration, scheduler, lease string) {
	t.Helper()
	log := logs(t)
	if err := setUp(t, configuration); err != nil {
		t.Error(err)
	}
	if warnings := log.lines("Warning: "); len(warnings) > 0 {
		t.Errorf("%q", warnings)
	}
	got, want := loadConfig(t, configuration), loadConfig(t, example(t))
	want.Profiles[0].SchedulerName = scheduler
	if !equality.Semantic.DeepEqual(got.Profiles, want.Profiles) {
		t.Errorf("the profile of %s differs from that of scheduler.yaml", scheduler)
	}
	if !got.LeaderElection.LeaderElect || got.LeaderElection.ResourceName != lease {
		t.Errorf("%+v", got.LeaderElection)
	}
}

// checkPod: the image is the one that the Dockerfile makes, and the files of flags are
// mounted. It returns what is mounted.
func checkPod(t *testing.T, spec *corev1.PodSpec) (paths []string) {
	t.Helper()
	container := &spec.Containers[0]
	if text := string(testkit.Must(os.ReadFile("Dockerfile"))); !strings.Contains(text, " -t "+container.Image+" .") {
		t.Errorf("the Dockerfile makes no image %s", container.Image)
	}
	for _, mount := range container.VolumeMounts {
		paths = append(paths, mount.MountPath)
	}
	for _, flag := range container.Args {
		if _, file, _ := strings.Cut(flag, "="); strings.HasPrefix(file, "/") && !slices.Contains(paths, file) && !slices.Contains(paths, path.Dir(file)) {
			t.Errorf("%s is not mounted: %v", flag, paths)
		}
	}
	return paths
}

// checkRoles: the account is bound to roles that exist, and may write its lease.
func checkRoles(t *testing.T, objects []runtime.Object, account rbacv1.Subject) {
	t.Helper()
	var exist []string
	for _, role := range bootstrappolicy.ClusterRoles() {
		exist = append(exist, "ClusterRole "+role.Name)
	}
	for _, role := range bootstrappolicy.NamespaceRoles()[account.Namespace] {
		exist = append(exist, "Role "+role.Name)
	}
	own := only[*rbacv1.Role](t, objects)
	exist = append(exist, "Role "+own.Name)
	var bound []string
	for _, object := range objects {
		var role rbacv1.RoleRef
		var subjects []rbacv1.Subject
		switch x := object.(type) {
		case *rbacv1.ClusterRoleBinding:
			role, subjects = x.RoleRef, x.Subjects
		case *rbacv1.RoleBinding:
			role, subjects = x.RoleRef, x.Subjects
		default:
			continue
		}
		if !slices.Equal(subjects, []rbacv1.Subject{account}) {
			t.Errorf("%s: %v", role.Name, subjects)
		}
		bound = append(bound, role.Kind+" "+role.Name)
	}
	for _, role := range bound {
		if !slices.Contains(exist, role) {
			t.Errorf("there is no %s", role)
		}
	}
	for _, role := range []string{"ClusterRole system:kube-scheduler", "ClusterRole system:volume-scheduler", "Role " + own.Name} {
		if !slices.Contains(bound, role) {
			t.Errorf("the account isn't bound to %s", role)
		}
	}
	if len(own.Rules) != 1 || !slices.Equal(own.Rules[0].ResourceNames, []string{account.Name}) {
		t.Errorf("%+v", own.Rules)
	}
}

// TestDockerfile: the image is built of what is in the repository, a Go module proxy and
// base images, with one command, which a test of folder e2e runs.
func TestDockerfile(t *testing.T) {
	text := string(testkit.Must(os.ReadFile("Dockerfile")))
	var bases []string
	for _, base := range regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1) {
		bases = append(bases, base[1])
	}
	if !slices.Equal(bases, []string{"golang:1.26", "scratch"}) {
		t.Errorf("base images %q", bases)
	}
	if runs := regexp.MustCompile(`(?m)^RUN (.*\\\n)*.*$`).FindAllString(text, -1); len(runs) != 1 || regexp.MustCompile(`\b(apt|apk|apt-get|curl|wget|git) |https?:`).MatchString(runs[0]) {
		t.Errorf("%q", runs)
	}
	if regexp.MustCompile(`(?m)^ADD `).MatchString(text) {
		t.Error("ADD may read from the network")
	}
}
