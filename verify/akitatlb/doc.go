// Package akitatlb holds the tests in which the TLB of stock Akita stands in the
// place of our translation unit: at the same ports, under the same monitors.
package akitatlb
