package permission

import "github.com/tenon-agent/tenon/workspace/host"

// within reports whether a list has a host. A host without a port may be one of the list with a port.
func within(list host.List, name string) certainty {
	switch is, may := list.Has(name); {
	case is:
		return yes
	case may:
		return maybe
	}
	return no
}
