// Package ats holds the untimed rules of PCI Express address translation
// services and of the page request interface: what the messages contain, how
// ranges and sizes are encoded, and which tags, groups and credits are in use.
package ats
