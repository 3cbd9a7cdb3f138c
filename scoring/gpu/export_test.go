package gpu

// Exp is exp, for golden models.
var Exp = exp
