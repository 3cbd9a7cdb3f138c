package gpu

import "math"

// exp returns e to the power of x, within 1 ulp, and exactly 1 for 0: NaN for
// NaN, +Inf from about 709.78 up, and 0 from about -745.13 down. math.Exp is
// assembly on some CPUs and has other bits there; this one has the same bits
// everywhere, since every product is rounded before it is added.
//
// With n the integer next to x*64/ln 2 and r the rest, e^x is 2^(n/64) * e^r,
// and |r| is at most ln 2/128 (Tang, Table-Driven Implementation of the
// Exponential Function in IEEE Floating-Point Arithmetic, 1989).
func exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.1332191019412:
		return 0
	}
	n := math.Floor(float64(x*expScale) + 0.5)
	r := x - float64(n*expStepHigh) - float64(n*expStepLow)
	square := float64(r * r)
	odd := 1.0/6 + float64(r*(1.0/24))
	even := 1.0/120 + float64(r*(1.0/720))
	p := r + float64(square*(0.5+float64(r*odd)+float64(float64(square*r)*even)))
	i := int(n)
	power := &expPowers[i&63]
	y := power[0] + (power[1] + float64(power[0]*p))
	return scaled(y, i>>6)
}

// scaled returns y*2^k rounded once, for y from 0.9 to 2.
func scaled(y float64, k int) float64 {
	switch {
	case k < -1021: // the result may be denormal
		return y * 0x1p-100 * math.Float64frombits(uint64(1023+100+k)<<52)
	case k > 1023: // 2^k is too large
		return y * 2 * 0x1p1023
	}
	return y * math.Float64frombits(uint64(1023+k)<<52)
}

// The width of a step, ln 2/64, in two parts: a multiple of the first is exact.
const (
	expScale    = 0x1.71547652b82fep+6 // 64/ln 2
	expStepHigh = 0x1.62e42fef80000p-7
	expStepLow  = 0x1.1cf79abc9e3b4p-42
)

// expPowers[j] is 2^(j/64) as a float64 and what that lacks.
var expPowers = [64][2]float64{
	{0x1p0, 0x0p0},
	{0x1.02c9a3e778061p0, -0x1.19083535b085dp-56},
	{0x1.059b0d3158574p0, 0x1.d73e2a475b465p-55},
	{0x1.0874518759bc8p0, 0x1.186be4bb284ffp-57},
	{0x1.0b5586cf9890fp0, 0x1.8a62e4adc610bp-54},
	{0x1.0e3ec32d3d1a2p0, 0x1.03a1727c57b53p-59},
	{0x1.11301d0125b51p0, -0x1.6c51039449b3ap-54},
	{0x1.1429aaea92dep0, -0x1.32fbf9af1369ep-54},
	{0x1.172b83c7d517bp0, -0x1.19041b9d78a76p-55},
	{0x1.1a35beb6fcb75p0, 0x1.e5b4c7b4968e4p-55},
	{0x1.1d4873168b9aap0, 0x1.e016e00a2643cp-54},
	{0x1.2063b88628cd6p0, 0x1.dc775814a8495p-55},
	{0x1.2387a6e756238p0, 0x1.9b07eb6c70573p-54},
	{0x1.26b4565e27cddp0, 0x1.2bd339940e9d9p-55},
	{0x1.29e9df51fdee1p0, 0x1.612e8afad1255p-55},
	{0x1.2d285a6e4030bp0, 0x1.0024754db41d5p-54},
	{0x1.306fe0a31b715p0, 0x1.6f46ad23182e4p-55},
	{0x1.33c08b26416ffp0, 0x1.32721843659a6p-54},
	{0x1.371a7373aa9cbp0, -0x1.63aeabf42eae2p-54},
	{0x1.3a7db34e59ff7p0, -0x1.5e436d661f5e3p-56},
	{0x1.3dea64c123422p0, 0x1.ada0911f09ebcp-55},
	{0x1.4160a21f72e2ap0, -0x1.ef3691c309278p-58},
	{0x1.44e086061892dp0, 0x1.89b7a04ef80dp-59},
	{0x1.486a2b5c13cdp0, 0x1.3c1a3b69062fp-56},
	{0x1.4bfdad5362a27p0, 0x1.d4397afec42e2p-56},
	{0x1.4f9b2769d2ca7p0, -0x1.4b309d25957e3p-54},
	{0x1.5342b569d4f82p0, -0x1.07abe1db13cadp-55},
	{0x1.56f4736b527dap0, 0x1.9bb2c011d93adp-54},
	{0x1.5ab07dd485429p0, 0x1.6324c054647adp-54},
	{0x1.5e76f15ad2148p0, 0x1.ba6f93080e65ep-54},
	{0x1.6247eb03a5585p0, -0x1.383c17e40b497p-54},
	{0x1.6623882552225p0, -0x1.bb60987591c34p-54},
	{0x1.6a09e667f3bcdp0, -0x1.bdd3413b26456p-54},
	{0x1.6dfb23c651a2fp0, -0x1.bbe3a683c88abp-57},
	{0x1.71f75e8ec5f74p0, -0x1.16e4786887a99p-55},
	{0x1.75feb564267c9p0, -0x1.0245957316dd3p-54},
	{0x1.7a11473eb0187p0, -0x1.41577ee04992fp-55},
	{0x1.7e2f336cf4e62p0, 0x1.05d02ba15797ep-56},
	{0x1.82589994cce13p0, -0x1.d4c1dd41532d8p-54},
	{0x1.868d99b4492edp0, -0x1.fc6f89bd4f6bap-54},
	{0x1.8ace5422aa0dbp0, 0x1.6e9f156864b27p-54},
	{0x1.8f1ae99157736p0, 0x1.5cc13a2e3976cp-55},
	{0x1.93737b0cdc5e5p0, -0x1.75fc781b57ebcp-57},
	{0x1.97d829fde4e5p0, -0x1.d185b7c1b85d1p-54},
	{0x1.9c49182a3f09p0, 0x1.c7c46b071f2bep-56},
	{0x1.a0c667b5de565p0, -0x1.359495d1cd533p-54},
	{0x1.a5503b23e255dp0, -0x1.d2f6edb8d41e1p-54},
	{0x1.a9e6b5579fdbfp0, 0x1.0fac90ef7fd31p-54},
	{0x1.ae89f995ad3adp0, 0x1.7a1cd345dcc81p-54},
	{0x1.b33a2b84f15fbp0, -0x1.2805e3084d708p-57},
	{0x1.b7f76f2fb5e47p0, -0x1.5584f7e54ac3bp-56},
	{0x1.bcc1e904bc1d2p0, 0x1.23dd07a2d9e84p-55},
	{0x1.c199bdd85529cp0, 0x1.11065895048ddp-55},
	{0x1.c67f12e57d14bp0, 0x1.2884dff483cadp-54},
	{0x1.cb720dcef9069p0, 0x1.503cbd1e949dbp-56},
	{0x1.d072d4a07897cp0, -0x1.cbc3743797a9cp-54},
	{0x1.d5818dcfba487p0, 0x1.2ed02d75b3707p-55},
	{0x1.da9e603db3285p0, 0x1.c2300696db532p-54},
	{0x1.dfc97337b9b5fp0, -0x1.1a5cd4f184b5cp-54},
	{0x1.e502ee78b3ff6p0, 0x1.39e8980a9cc8fp-55},
	{0x1.ea4afa2a490dap0, -0x1.e9c23179c2893p-54},
	{0x1.efa1bee615a27p0, 0x1.dc7f486a4b6bp-54},
	{0x1.f50765b6e454p0, 0x1.9d3e12dd8a18bp-54},
	{0x1.fa7c1819e90d8p0, 0x1.74853f3a5931ep-55},
}
