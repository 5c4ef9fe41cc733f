// Package protocol is what agents are told and what they say: one request object, and lines of JSON of which one is the
// last word. It is the same whether the agent is a program or answers to a POST.
//
// It turns attempts into bytes ([Request]) and bytes into a result ([Lines]). It knows no process and no connection, and does
// no I/O. Whatever an agent says, memory stays within [MaxLine] and [executor.MaxOutput], and what is not an answer is an error
// that says why.
package protocol
