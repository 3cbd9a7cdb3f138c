package device

import "errors"

var (
	// ErrUnknownCard says that no node has a card of this name.
	ErrUnknownCard = errors.New("device: unknown card")

	// ErrAmbiguousCard says that nodes disagree on the resource of a card.
	ErrAmbiguousCard = errors.New("device: card has several resources")
)
