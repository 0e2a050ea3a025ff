// Package ddp holds what iWARP puts on top of TCP: the sizes of its messages
// and the codes with which a receiver ends a stream.
//
//	RDMAP   operations                        [RFC5040], atomics [RFC7306]
//	DDP     tagged: STag and offset (WRITE, READ response); untagged: queue,
//	        sequence number and offset (SEND, READ request, Terminate, atomics)  [RFC5041]
//	MPA     length, pad, CRC                  [RFC5044]
//	TCP     package model/tcp
//
// One DDP segment makes one FPDU, and this model puts one FPDU into one TCP
// segment, as [RFC5044] recommends.
//
// # Not modelled
//
// MPA's markers and connection set-up, the values in headers, solicited
// events, immediate data.
package ddp
