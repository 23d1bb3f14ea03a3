# Prints include/curand_mrg32k3a_jump.h: the two recurrences of MRG32k3a
# (L'Ecuyer 1999) taken 2^76 and 2^127 steps at once, as matrices.
M1, M2 = 4294967087, 4294944443
A1 = [[0, 1, 0], [0, 0, 1], [M1 - 810728, 1403580, 0]]
A2 = [[0, 1, 0], [0, 0, 1], [M2 - 1370589, 0, 527612]]


def times(a, b, m):
    return [[sum(a[i][k] * b[k][j] for k in range(3)) % m for j in range(3)] for i in range(3)]


def squared(a, m, n):
    for _ in range(n):
        a = times(a, a, m)
    return a


print("// Made by gen/mrg32k3a.py.")
for name, n in (("SUBSEQUENCE", 76), ("SEQUENCE", 127)):
    rows = ["{" + ", ".join("%du" % v for row in squared(a, m, n) for v in row) + "}" for a, m in ((A1, M1), (A2, M2))]
    print("#define HEDDLE_MRG_%s {%s, \\\n  %s}" % (name, rows[0], rows[1]))
