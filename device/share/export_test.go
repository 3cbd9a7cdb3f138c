package share

// The conversions of [FillRequest], one by one.
var (
	RatioToBytes = ratioToBytes
	BytesToRatio = bytesToRatio
)
