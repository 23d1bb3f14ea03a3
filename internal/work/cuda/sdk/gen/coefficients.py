# Prints libdevice/coefficients.h: polynomials that interpolate in Chebyshev's
# points, computed to 80 digits. Needs mpmath:
#
#   python3 gen/coefficients.py > libdevice/coefficients.h
from mpmath import mp, mpf, chebyfit, exp, log, sin, cos, asin, atan, tanh, erf, erfc, sqrt, pi, euler, zeta, bernoulli, factorial, floor

mp.dps = 80


def two(x):
    """x as the sum of two doubles."""
    h = float(x)
    return h, float(x - mpf(h))


def put(name, f, a, b, degree, single=False):
    a, b = mpf(a), mpf(b)
    c = chebyfit(f, [a, b], degree + 1)[::-1]
    table(name, c, single)


def table(name, c, single=False):
    t, s = ("float", "f") if single else ("double", "")
    print("static const %s %s[%d] = {%s};" % (t, name, len(c), ", ".join("%.9g%s" % (float(x), s) if single and "%.9g" % float(x) != "0" else float(x).hex() if not single else "0.0f" for x in c).replace("e-0", "e-0")))


def pair(name, x):
    h, l = two(x)
    print("static const dd %s = {%s, %s};" % (name, h.hex(), l.hex()))


def series(f, small, eps="1e-9"):
    """f, and its limit where z is too small to compute it."""
    return lambda z: f(z) if abs(z) > mpf(eps) else small(z)


print("// Made by gen/coefficients.py; do not edit.")
e3 = lambda r: sum(r**k / factorial(k + 3) for k in range(40))
put("EXP", e3, -0.3473, 0.3473, 10)
put("LOG", lambda z: sum(2 * z**k / (2 * k + 5) for k in range(60)), 0, 0.02944, 9)
put("SIN", lambda z: sum((-1) ** (k + 1) * z**k / factorial(2 * k + 3) for k in range(30)), 0, 0.6170, 6)
put("COS", lambda z: sum((-1) ** k * z**k / factorial(2 * k + 4) for k in range(30)), 0, 0.6170, 6)
put("ASIN", series(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: mpf(1) / 6 + 3 * z / 40), 0, 0.2501, 14)
put("ATAN", series(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: -mpf(1) / 3 + z / 5), 0, 0.17158, 13)
put("ERF", lambda z: 2 / sqrt(pi) * sum((-1) ** (k + 1) * z**k / factorial(k + 1) / (2 * k + 3) for k in range(50)), 0, 1, 15)


def cx(q):
    x = 4 * (1 + q) / (1 - q) if q < 1 else None
    if x is None or x > 1e6:
        return 2 / sqrt(pi) * (1 + (0 if x is None else 1 / (2 * x)))
    if x > 60:
        return (1 + 2 * x) * sum((-1) ** k * factorial(2 * k) / factorial(k) / (2 * x) ** (2 * k) for k in range(60)) / (x * sqrt(pi))
    return (1 + 2 * x) * exp(x * x) * erfc(x)


mp.dps = 60
put("ERFCX", cx, -0.8, 1, 26)
mp.dps = 80
put("SINF", lambda z: sum((-1) ** (k + 1) * z**k / factorial(2 * k + 3) for k in range(30)), 0, 0.6170, 3, True)
put("COSF", lambda z: sum((-1) ** k * z**k / factorial(2 * k + 4) for k in range(30)), 0, 0.6170, 2, True)
put("LOGF", series(lambda f: (log(1 + f) - f + f * f / 2) / f**3, lambda f: mpf(1) / 3 - f / 4), sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1, 8, True)
put("ATANF", series(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: -mpf(1) / 3 + z / 5), 0, 1, 8, True)
put("ASINF", series(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: mpf(1) / 6 + 3 * z / 40), 0, 0.2501, 5, True)
put("TANHF", series(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, lambda z: -mpf(1) / 3 + 2 * z / 15), 0, 0.36, 5, True)
put("ERFF", lambda z: 2 / sqrt(pi) * sum((-1) ** (k + 1) * z**k / factorial(k + 1) / (2 * k + 3) for k in range(50)), 0, 1, 6, True)
# log gamma at 2 + z and the tail of Stirling's series.
table("GAMMA2", [(-1) ** k * (zeta(k) - 1) / k for k in range(2, 34)])
pair("GAMMA2_0", 1 - euler)
table("STIRLING", [bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 14)])
pair("LN2", log(2))
pair("LN10", log(10))
pair("INV_LN2", 1 / log(2))
pair("INV_LN10", 1 / log(10))
pair("PI", pi)
pair("PI_2", pi / 2)
pair("PI_4", pi / 4)
pair("SQRT1_2", 1 / sqrt(2))
pair("SQRT2", sqrt(2))
pair("TWO_SQRTPI", 2 / sqrt(pi))
pair("HALF_LN_2PI", log(2 * pi) / 2)
pair("LN_PI", log(pi))
pair("EULER", euler)
pair("TWO_THIRDS", mpf(2) / 3)
pair("TWO_PI", 2 / pi)
h1, h2 = two(pi / 2)
h3 = float(pi / 2 - mpf(h1) - mpf(h2))
print("static const double PI_2_3 = %s;" % h3.hex())
mp.prec = 2000
bits = int(floor(2 / pi * mpf(2) ** 1280))
words = [0] + [(bits >> (1280 - 64 * (i + 1))) & (2**64 - 1) for i in range(20)]
print("static const unsigned long long TWO_PI_BITS[%d] = {%s};" % (len(words), ", ".join("0x%xull" % w for w in words)))
