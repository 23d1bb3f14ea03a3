// Package sm holds what core models share: at present the search for warps that
// go round for ever. The models are the packages below it.
package sm
