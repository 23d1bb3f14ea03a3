# Prints testdata/math.csv: the values of the mathematical functions, to the last
# bit, at random and at awkward arguments, from mpmath. A line is a function's name,
# its arguments and the rounded value, as bits. Needs mpmath:
#
#   python3 gen/reference.py [ARGUMENTS-PER-FUNCTION [SEED]] > testdata/math.csv
import math, random, struct, sys
from fractions import Fraction
from mpmath import mp, mpf
import mpmath as m

mp.prec = 1400
count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
random.seed(int(sys.argv[2]) if len(sys.argv) > 2 else 1)


def rounded(x, bits, emin, emax):
    """x rounded to the given number of bits, as a fraction, or an infinity."""
    man, exp = x.man_exp if hasattr(x, "man_exp") else (None, None)
    if man is None or not mp.isfinite(x):
        return x
    if man == 0:
        return 0.0
    if x < 0:
        man = -abs(man)
    e = max(exp + abs(man).bit_length() - bits, emin)
    if exp >= e:
        v = man << (exp - e)
    else:
        d = e - exp
        if d > 3000:
            return 0.0
        v = round(Fraction(man, 1 << d))
    if abs(v).bit_length() + e > emax:
        return math.inf if man > 0 else -math.inf
    return Fraction(v) * (Fraction(2) ** e)


def f64(x):
    v = rounded(x, 53, -1074, 1024)
    return "%016x" % struct.unpack("<Q", struct.pack("<d", float(v)))[0]


def f32(x):
    v = rounded(x, 24, -149, 128)
    return "%08x" % struct.unpack("<I", struct.pack("<f", float(v)))[0]


def anyexp(lo, hi, signed=True):
    """Arguments whose exponents are spread from 2^lo to 2^hi."""
    return lambda: (random.choice([-1, 1]) if signed else 1) * math.ldexp(1 + random.random(), random.randint(lo, hi - 1))


def within(a, b):
    return lambda: random.uniform(a, b)


def mix(*g):
    return lambda: random.choice(g)()


corner = [0.5, 1.0, 2.0, 0.25, 0.75, 1.5, 3.0, 10.0, 0.1, 0.9999999999999999, 1.0000000000000002, 1e-5, 3.141592653589793, 1.5707963267948966, 0.7853981633974483, 22.0, 100.0, 1e-300, 5e-324, 1e300, 6381956970095103.0 * 2.0**797]


def cbrt(x):
    return m.sign(x) * m.cbrt(abs(x))


def erfcx(x):
    if x > 200:
        return sum((-1) ** k * m.factorial(2 * k) / m.factorial(k) / (2 * x) ** (2 * k) for k in range(30)) / (x * m.sqrt(m.pi))
    return m.exp(x * x) * m.erfc(x)


def inverse(f, df, y, x):
    for _ in range(60):
        step = (f(x) - y) / df(x)
        x -= step
        if abs(step) < abs(x) * mpf(2) ** -200 or x == 0:
            return x
    raise ValueError("no inverse of %s" % y)


def erfinv(y):
    if abs(y) < 0.9:
        return inverse(m.erf, lambda x: 2 / m.sqrt(m.pi) * m.exp(-x * x), y, y * 0.9) if y != 0 else mpf(0)
    return m.sign(y) * erfcinv(1 - abs(y))


def erfcinv(y):
    if y > 1:
        return -erfcinv(2 - y)
    if y > 0.1:
        return erfinv(1 - y) if y != 1 else mpf(0)
    x = m.sqrt(-m.log(y * m.sqrt(m.pi) * m.sqrt(-m.log(y))))
    return inverse(lambda x: m.log(m.erfc(x)), lambda x: -2 / m.sqrt(m.pi) * m.exp(-x * x) / m.erfc(x), m.log(y), x)


def wrap(f, ok=lambda *a: True):
    return f, ok


# name: function, generator of arguments, bits to compute with, whether corner arguments apply
one = {
    "exp": (m.exp, mix(within(-745, 709), within(-1, 1), anyexp(-30, 9)), lambda x: abs(x) < 750),
    "expm1": (m.expm1, mix(within(-40, 709), within(-1, 1), anyexp(-60, 9)), lambda x: abs(x) < 750),
    "exp2": (lambda x: mpf(2) ** x, mix(within(-1074, 1023), within(-1, 1), anyexp(-30, 9)), lambda x: abs(x) < 1100),
    "exp10": (lambda x: mpf(10) ** x, mix(within(-323, 308), within(-1, 1), anyexp(-30, 8)), lambda x: abs(x) < 400),
    "log": (m.log, mix(anyexp(-1074, 1023, False), within(0.5, 2), within(0.99, 1.01)), lambda x: x > 0),
    "log2": (lambda x: m.log(x) / m.log(2), mix(anyexp(-1074, 1023, False), within(0.5, 2), within(0.99, 1.01)), lambda x: x > 0),
    "log10": (lambda x: m.log(x) / m.log(10), mix(anyexp(-1074, 1023, False), within(0.5, 2), within(0.99, 1.01)), lambda x: x > 0),
    "log1p": (m.log1p, mix(anyexp(-80, 1000, False), within(-0.99999, 2), anyexp(-60, -1)), lambda x: x > -1),
    "sin": (m.sin, mix(within(-10, 10), within(-1e5, 1e5), anyexp(-60, 1023)), lambda x: True),
    "cos": (m.cos, mix(within(-10, 10), within(-1e5, 1e5), anyexp(-60, 1023)), lambda x: True),
    "tan": (m.tan, mix(within(-10, 10), within(-1e5, 1e5), anyexp(-60, 1023)), lambda x: True),
    "sinpi": (m.sinpi, mix(within(-3, 3), anyexp(-60, 54)), lambda x: True),
    "cospi": (m.cospi, mix(within(-3, 3), anyexp(-60, 54)), lambda x: True),
    "sinh": (m.sinh, mix(within(-710, 710), within(-3, 3), anyexp(-60, 9)), lambda x: abs(x) < 720),
    "cosh": (m.cosh, mix(within(-710, 710), within(-3, 3), anyexp(-60, 9)), lambda x: abs(x) < 720),
    "tanh": (m.tanh, mix(within(-22, 22), within(-1, 1), anyexp(-60, 6)), lambda x: abs(x) < 720),
    "asinh": (m.asinh, mix(within(-10, 10), anyexp(-60, 1023)), lambda x: True),
    "acosh": (m.acosh, mix(within(1, 10), anyexp(0, 1023, False), within(1, 1.001)), lambda x: x >= 1),
    "atanh": (m.atanh, mix(within(-0.99999, 0.99999), anyexp(-60, -1)), lambda x: abs(x) < 1),
    "asin": (m.asin, mix(within(-1, 1), anyexp(-60, -1), within(0.999, 1)), lambda x: abs(x) <= 1),
    "acos": (m.acos, mix(within(-1, 1), anyexp(-60, -1), within(0.999, 1)), lambda x: abs(x) <= 1),
    "atan": (m.atan, mix(within(-10, 10), anyexp(-60, 1023)), lambda x: True),
    "cbrt": (cbrt, mix(within(-10, 10), anyexp(-1074, 1023)), lambda x: True),
    "rcbrt": (lambda x: 1 / cbrt(x), mix(within(-10, 10), anyexp(-1022, 1023)), lambda x: x != 0),
    "rsqrt": (lambda x: 1 / m.sqrt(x), mix(within(0, 10), anyexp(-1022, 1023, False)), lambda x: x > 0),
    "erf": (m.erf, mix(within(-6, 6), within(-1, 1), anyexp(-60, 1)), lambda x: abs(x) < 100),
    "erfc": (m.erfc, mix(within(-6, 27), within(-1, 2), anyexp(-60, 3)), lambda x: abs(x) < 28),
    "erfcx": (erfcx, mix(within(-26, 30), within(-1, 2), anyexp(-60, 100, False)), lambda x: x > -26.6 and x < 1e30),
    "normcdf": (lambda x: m.erfc(-x / m.sqrt(2)) / 2, mix(within(-38, 9), within(-2, 2), anyexp(-60, 2)), lambda x: abs(x) < 38),
    "erfinv": (erfinv, mix(within(-1, 1), anyexp(-60, -1), within(0.999, 1)), lambda x: abs(x) < 1),
    "erfcinv": (erfcinv, mix(within(0, 2), anyexp(-1000, -1, False)), lambda x: 0 < x < 2),
    "normcdfinv": (lambda p: -m.sqrt(2) * erfcinv(2 * p), mix(within(0, 1), anyexp(-1000, -1, False)), lambda x: 0 < x < 1),
    "lgamma": (m.loggamma, mix(within(0, 30), within(0.9, 2.1), anyexp(-60, 900, False)), lambda x: 0 < x < 1e305),
    "tgamma": (m.gamma, mix(within(0, 171), within(-20, 3), within(-170, 0)), lambda x: abs(x) < 171.6 and abs(x) > 1e-300 and (x > 0 or x != int(x))),
    "cyl_bessel_i0": (lambda x: m.besseli(0, x), mix(within(-30, 30), within(-700, 700)), lambda x: abs(x) < 710),
    "cyl_bessel_i1": (lambda x: m.besseli(1, x), mix(within(-30, 30), within(-700, 700)), lambda x: abs(x) < 710),
    # Near their zeros these are held to an absolute error: see the test.
    "j0": (lambda x: m.besselj(0, x), mix(within(0, 40), within(0, 1000)), lambda x: abs(x) < 1e4),
    "j1": (lambda x: m.besselj(1, x), mix(within(0, 40), within(0, 1000)), lambda x: abs(x) < 1e4),
    "y0": (lambda x: m.bessely(0, x), mix(within(0, 40), within(0, 1000)), lambda x: 1e-200 < x < 1e4),
    "y1": (lambda x: m.bessely(1, x), mix(within(0, 40), within(0, 1000)), lambda x: 1e-200 < x < 1e4),
}
two = {
    "pow": (lambda x, y: x**y, lambda: random.choice([(math.ldexp(1 + random.random(), random.randint(-1000, 1000)), random.uniform(-1, 1)), (random.uniform(0, 10), random.uniform(-300, 300)), (random.uniform(0.99, 1.01), random.uniform(-50000, 50000)), (-random.uniform(0, 10), float(random.randint(-50, 50)))])),
    "atan2": (lambda y, x: m.atan2(y, x), lambda: (anyexp(-400, 400)(), anyexp(-400, 400)()) if random.random() < 0.3 else (random.uniform(-3, 3), random.uniform(-3, 3))),
    "hypot": (m.hypot, lambda: (anyexp(-1040, 1020)(), anyexp(-1040, 1020)()) if random.random() < 0.3 else (random.uniform(-3, 3), random.uniform(-3, 3))),
    "rhypot": (lambda x, y: 1 / m.hypot(x, y), lambda: (anyexp(-1000, 1000)(), anyexp(-1000, 1000)()) if random.random() < 0.3 else (random.uniform(-3, 3), random.uniform(-3, 3))),
    "jn": (lambda n, x: m.besselj(int(n), x), lambda: (float(random.randint(2, 40)), random.uniform(0, 60))),
    "yn": (lambda n, x: m.bessely(int(n), x), lambda: (float(random.randint(2, 20)), random.uniform(1, 60))),
}
HARD = {"sin", "cos", "tan"}


def single(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.inf


def line(name, f, args):
    mp.prec = 1400 if name in HARD else 400
    try:
        v = f(*[mpf(a) for a in args])
    except (ValueError, ZeroDivisionError, m.libmp.libhyper.NoConvergence):
        return
    if isinstance(v, m.mpc):
        v = v.real
    print(",".join([name] + ["%016x" % struct.unpack("<Q", struct.pack("<d", a))[0] for a in args] + [f64(v), f32(v)]))


for name, (f, gen, ok) in one.items():
    args = [s * c for c in corner for s in (1, -1) if ok(s * c)]
    args += [gen() for _ in range(count)]
    # Half of them are floats too, for the float functions.
    args = [single(a) if i % 2 and 1e-37 < abs(a) < 1e38 else a for i, a in enumerate(args)]
    for a in args:
        if ok(a) and a != 0:
            line(name, f, [a])
for name, (f, gen) in two.items():
    for i in range(2 * count):
        a = gen()
        if i % 2 and all(1e-37 < abs(v) < 1e38 for v in a):
            a = tuple(single(v) for v in a)
        line(name, f, a)
# Between the poles, where the logarithm is not near one of its zeros.
for i in range(2 * count):
    x = -random.uniform(0, 60)
    x = single(x) if i % 2 else x
    if x != int(x) and abs(m.loggamma(mpf(x)).real) > 1:
        line("lgamma", m.loggamma, [x])
