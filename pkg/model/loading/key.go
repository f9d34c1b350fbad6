package loading

import (
	"encoding/binary"
	"math"
)

// AppendKey appends a key that distinguishes the vector from others.
func (v Vector) AppendKey(key []byte) []byte {
	key = v.AppendQueueKey(key)
	for i, d := range v {
		if d.Effect != nil {
			key = d.Effect.appendKey(binary.AppendUvarint(key, uint64(i)))
		}
	}
	return key
}

// AppendQueueKey appends a key that distinguishes the vector from others in a queue.
func (v Vector) AppendQueueKey(key []byte) []byte {
	for i, d := range v {
		if !d.Idle() {
			key = d.appendKey(key, i)
		}
	}
	return key
}

func (d Demand) appendKey(key []byte, resource int) []byte {
	key = binary.AppendUvarint(key, uint64(resource))
	key = AppendFloat(AppendFloat(AppendFloat(key, d.Loading), d.Pressure), d.EffectiveSensitivity())
	return binary.AppendUvarint(key, uint64(d.ThreadCount()))
}

// appendKey appends a key that distinguishes the effect from others.
func (e *Effect) appendKey(key []byte) []byte {
	key = binary.AppendUvarint(AppendFloat(AppendFloat(key, e.Pressure), e.Exclusive), uint64(e.Of))
	for _, p := range e.Curve {
		key = AppendFloat(AppendFloat(key, p.Pressure), p.Inflation)
	}
	return AppendFloat(key, math.Inf(1)) // no pressure: the end of the curve
}

// AppendFloat appends a number to a key.
func AppendFloat(key []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
}
