//go:build cgo && linux

package nvml

import (
	"errors"
	"strings"

	gonvml "github.com/NVIDIA/go-nvml/pkg/nvml"
	"github.com/resvec/resvec/vectormap"
)

// migReader reads the MIG devices of a GPU.
type migReader struct {
	parent *handle
	errs   []error

	profiles []migProfile // all that the GPU has
	known    bool         // profiles was asked for
}

// migProfile is a GPU instance profile of a GPU. The index is a constant of NVML. The id
// is the driver's, and instances refer to it.
type migProfile struct {
	index int
	info  gonvml.GpuInstanceProfileInfo
}

// note records an error, unless it says that something is not supported, and
// reports whether there was none.
func (r *migReader) note(err error) bool {
	if err != nil && !errors.Is(err, ErrNotSupported) {
		r.errs = append(r.errs, err)
	}
	return err == nil
}

// instance reads a MIG device.
func (r *migReader) instance(dev gonvml.Device) MIGInstance {
	uuid, err := read("GetUUID", dev.GetUUID)
	r.note(err)
	name, nameErr := read("GetName", dev.GetName)
	attributes, attributesErr := read("GetAttributes", dev.GetAttributes)

	m := MIGInstance{UUID: uuid, Start: -1, MemoryBytes: attributes.MemorySizeMB << 20}
	profile := migProfile{index: -1}
	if info, ok := r.gpuInstance(dev); ok {
		m.Start, m.Slots = int(info.Placement.Start), int(info.Placement.Size)
		profile = r.profile(info.ProfileId)
	}
	if m.MemoryBytes == 0 {
		m.MemoryBytes = profile.info.MemorySizeMB << 20
	}
	m.Profile = r.profileName(name, attributes, profile, m.MemoryBytes)

	// The name, the attributes and the GPU instance say much of the same. An error
	// counts only if something is unknown in the end.
	if m.Profile == "" || m.MemoryBytes == 0 {
		r.note(nameErr)
		r.note(attributesErr)
	}
	return m
}

// gpuInstance returns the GPU instance of a MIG device. Only a privileged
// process may ask for it.
func (r *migReader) gpuInstance(dev gonvml.Device) (gonvml.GpuInstanceInfo, bool) {
	id, err := read("GetGpuInstanceId", dev.GetGpuInstanceId)
	if !r.note(err) {
		return gonvml.GpuInstanceInfo{}, false
	}
	instance, err := read("GetGpuInstanceById", func() (gonvml.GpuInstance, gonvml.Return) {
		return r.parent.dev.GetGpuInstanceById(id)
	})
	if !r.note(err) {
		return gonvml.GpuInstanceInfo{}, false
	}
	info, err := read("GpuInstance.GetInfo", instance.GetInfo)
	return info, r.note(err)
}

// profile returns the profile with the driver's id. Its index is -1 if there is none.
func (r *migReader) profile(id uint32) migProfile {
	if !r.known {
		r.known = true
		for index := range gonvml.GPU_INSTANCE_PROFILE_COUNT {
			info, err := read("GetGpuInstanceProfileInfo", func() (gonvml.GpuInstanceProfileInfo, gonvml.Return) {
				return r.parent.dev.GetGpuInstanceProfileInfo(index)
			})
			// An older driver knows fewer profiles.
			if errors.Is(err, gonvml.ERROR_INVALID_ARGUMENT) {
				break
			}
			if r.note(err) {
				r.profiles = append(r.profiles, migProfile{index, info})
			}
		}
	}
	for _, p := range r.profiles {
		if p.info.Id == id {
			return p
		}
	}
	return migProfile{index: -1}
}

// suffixes are what the GPU instance profiles of NVML have after the memory.
var suffixes = map[int]string{
	gonvml.GPU_INSTANCE_PROFILE_1_SLICE_REV1:   "+me",
	gonvml.GPU_INSTANCE_PROFILE_2_SLICE_REV1:   "+me",
	gonvml.GPU_INSTANCE_PROFILE_1_SLICE_GFX:    "+gfx",
	gonvml.GPU_INSTANCE_PROFILE_2_SLICE_GFX:    "+gfx",
	gonvml.GPU_INSTANCE_PROFILE_3_SLICE_GFX:    "+gfx",
	gonvml.GPU_INSTANCE_PROFILE_4_SLICE_GFX:    "+gfx",
	gonvml.GPU_INSTANCE_PROFILE_1_SLICE_NO_ME:  "-me",
	gonvml.GPU_INSTANCE_PROFILE_2_SLICE_NO_ME:  "-me",
	gonvml.GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME: "+me.all",
	gonvml.GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME: "+me.all",
}

// profileName returns the name of a MIG device's profile. It stands behind MIG in the
// device's own name, or else is made of the slices and the memory. It is empty if these
// are unknown.
func (r *migReader) profileName(own string, slices gonvml.DeviceAttributes, p migProfile, memory uint64) string {
	if _, name, ok := strings.Cut(own, " MIG "); ok {
		profile, _, err := vectormap.ParseMIG(name)
		if err != nil {
			return name
		}
		if profile.Suffix == "" {
			profile.Suffix = suffixes[p.index]
		}
		return profile.String()
	}
	gpu, err := r.parent.MemoryTotal()
	r.note(err)
	profile := vectormap.MIGProfile{
		G:      int(slices.GpuInstanceSliceCount),
		MemGB:  memoryGB(memory, gpu),
		Suffix: suffixes[p.index],
	}
	if p.index >= 0 {
		profile.G = int(p.info.SliceCount)
	}
	if c := int(slices.ComputeInstanceSliceCount); c < profile.G {
		profile.C = c
	}
	if profile.G == 0 || profile.MemGB == 0 {
		return ""
	}
	return profile.String()
}

// memoryGB returns the memory of an instance as in the names of profiles, or 0 for
// unknown: eighths of the GPU's memory in GB, rounded.
func memoryGB(instance, gpu uint64) int {
	const tebibyte = 1 << 40
	if instance == 0 || instance > gpu || gpu > 1024*tebibyte {
		return 0
	}
	eighths := max((16*instance+gpu)/(2*gpu), 1)
	gb := (gpu + 1<<30 - 1) >> 30
	return int((eighths*gb + 4) / 8)
}
