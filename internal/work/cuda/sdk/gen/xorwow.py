# Prints include/curand_xorwow_jump.h: x^(2^67 2^k) modulo the characteristic
# polynomial of the XORWOW generator's linear part, for k = 0..63, with which a
# state jumps ahead by 2^67 2^k numbers. Plain Python:
#
#   python3 gen/xorwow.py > include/curand_xorwow_jump.h
import random

M = 0xFFFFFFFF


def step(v):
    t = v[0] ^ v[0] >> 2
    return v[1:] + [(v[4] ^ v[4] << 4 ^ t ^ t << 1) & M]


def characteristic():
    """The polynomial by Berlekamp and Massey, bit i for x^i, from one bit of the states."""
    random.seed(1)
    v = [random.getrandbits(32) for _ in range(5)]
    bits = []
    for _ in range(400):
        bits.append(v[0] & 1)
        v = step(v)
    c, b, length, m = 1, 1, 0, 1
    for n in range(len(bits)):
        d = 0
        for i in range(length + 1):
            d ^= (c >> i & 1) & bits[n - i]
        if d:
            t = c
            c ^= b << m
            if 2 * length <= n:
                length, b, m = n + 1 - length, t, 0
        m += 1
    assert length == 160
    return sum((c >> i & 1) << (160 - i) for i in range(161))


def multiply(a, b, p):
    r = 0
    while b:
        if b & 1:
            r ^= a
        b >>= 1
        a <<= 1
        if a >> 160 & 1:
            a ^= p
    return r


def apply(q, v):
    """The state that the polynomial q of the step makes of v."""
    r = [0] * 5
    while q:
        if q & 1:
            r = [x ^ y for x, y in zip(r, v)]
        v = step(v)
        q >>= 1
    return r


p = characteristic()
v = [1, 2, 3, 4, 5]
w = v
for _ in range(1000):
    w = step(w)
q = 1
for _ in range(1000):
    q = multiply(q, 2, p)
assert apply(q, v) == w
words = lambda q: "{" + ", ".join("0x%08xu" % (q >> 32 * i & M) for i in range(5)) + "}"
print("// Made by gen/xorwow.py; do not edit.")
print("#define HEDDLE_XORWOW_POLYNOMIAL %s" % words(p & ((1 << 160) - 1)))
q = 2
for _ in range(67):
    q = multiply(q, q, p)
rows = []
for _ in range(64):
    rows.append("  " + words(q))
    q = multiply(q, q, p)
print("#define HEDDLE_XORWOW_JUMPS { \\\n" + ", \\\n".join(rows) + "}")
