// SPDX-License-Identifier: Apache-2.0
// Boxes: what they cut off balls and lines, and images in periodic cells.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka wants the four above first
#include <cmocka.h>

#include "base/rng.h"
#include "observe/box.h"
#include "observe/kernel.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

// Area of a disk in a rectangle as an integral of lengths of chords, by Simpson's rule.
static double disk_by_chords(const double c[3], double r, const double low[3],
                             const double high[3]) {
    const int n = 20000;
    const double x0 = fmax(low[0], c[0] - r), x1 = fmin(high[0], c[0] + r);
    double sum = 0.0;
    if (x1 <= x0) return 0.0;
    for (int i = 0; i <= n; i++) {
        const double x = x0 + (x1 - x0) * i / n;
        const double half = sqrt(fmax(0.0, r * r - (x - c[0]) * (x - c[0])));
        const double chord = fmin(high[1], c[1] + half) - fmax(low[1], c[1] - half);
        sum += (i == 0 || i == n ? 1.0 : i % 2 ? 4.0 : 2.0) * fmax(0.0, chord);
    }
    return sum * (x1 - x0) / n / 3.0;
}

static void random_box(tl_rng *rng, int dim, double low[3], double high[3]) {
    for (int k = 0; k < 3; k++) {
        low[k] = k < dim ? tl_rng_range(rng, -1.3, 1.0) : 0.0;
        high[k] = k < dim ? low[k] + tl_rng_range(rng, 0.05, 1.5) : 0.0;
        if (k < dim && tl_rng_unit(rng) < 0.2) low[k] = -INFINITY;
        if (k < dim && tl_rng_unit(rng) < 0.2) high[k] = INFINITY;
    }
}

static void disks_by_chords(void **state) {
    (void)state;
    tl_rng rng = {1};
    for (int i = 0; i < 300; i++) {
        const double c[3] = {tl_rng_range(&rng, -0.3, 0.3), tl_rng_range(&rng, -0.3, 0.3), 0.0};
        double low[3], high[3];
        random_box(&rng, 2, low, high);
        // Simpson's rule at the end of a chord goes like n^(-3/2)
        const double want = disk_by_chords(c, 0.8, low, high);
        assert_true(fabs(tl_clip_ball(2, c, 0.8, low, high) - want) < 2e-6);
    }
}

static void balls_by_hand(void **state) {
    (void)state;
    const double c[3] = {0.3, -0.2, 0.1}, r = 0.7, whole = 4.0 / 3.0 * pi * r * r * r;
    const double open[3] = {-INFINITY, -INFINITY, -INFINITY};
    const double far[3] = {INFINITY, INFINITY, INFINITY};
    assert_true(fabs(tl_clip_ball(3, c, r, open, far) - whole) < 1e-15);
    assert_true(fabs(tl_clip_ball(3, c, r, open, c) - whole / 8.0) < 1e-13);
    const double quarter[3] = {c[0], c[1], INFINITY};
    assert_true(fabs(tl_clip_ball(3, c, r, open, quarter) - whole / 4.0) < 1e-13);
    // a cap of height h: π h² (3 r − h)/3
    const double h = 0.25, cap[3] = {INFINITY, c[1] - r + h, INFINITY};
    assert_true(fabs(tl_clip_ball(3, c, r, open, cap) - pi * h * h * (3.0 * r - h) / 3.0) < 1e-15);
    // a box inside the ball
    const double low[3] = {c[0] - 0.1, c[1] - 0.2, c[2] - 0.3};
    const double high[3] = {c[0] + 0.2, c[1] + 0.1, c[2] + 0.3};
    assert_true(fabs(tl_clip_ball(3, c, r, low, high) - 0.3 * 0.3 * 0.6) < 1e-13);
    const double away[3] = {c[0] + r, c[1], c[2]};
    assert_true(tl_clip_ball(3, c, r, away, far) == 0.0);
}

// Eight boxes about any point fill the space: what they hold of a ball is the ball.
static void pieces_make_the_whole(void **state) {
    (void)state;
    tl_rng rng = {2};
    for (int i = 0; i < 500; i++) {
        const int dim = i % 2 ? 2 : 3;
        const double c[3] = {0.1, -0.2, dim == 3 ? 0.3 : 0.0}, r = 0.9;
        double at[3], sum = 0.0;
        for (int k = 0; k < 3; k++) at[k] = c[k] + tl_rng_range(&rng, -1.0, 1.0);
        for (int p = 0; p < (dim == 3 ? 8 : 4); p++) {
            double low[3], high[3];
            for (int k = 0; k < 3; k++) {
                low[k] = p >> k & 1 ? at[k] : -INFINITY;
                high[k] = p >> k & 1 ? INFINITY : at[k];
            }
            sum += tl_clip_ball(dim, c, r, low, high);
        }
        const double whole = dim == 3 ? 4.0 / 3.0 * pi * r * r * r : pi * r * r;
        assert_true(fabs(sum - whole) < 1e-11 * whole);
    }
}

// A ball as a sum of thin disks, whose areas the test above has judged.
static void balls_by_disks(void **state) {
    (void)state;
    tl_rng rng = {3};
    for (int i = 0; i < 100; i++) {
        const double c[3] = {0.0, 0.0, 0.0}, r = 0.8;
        double low[3], high[3], sum = 0.0;
        const int n = 4000;
        random_box(&rng, 3, low, high);
        const double z0 = fmax(-r, low[2]), z1 = fmin(r, high[2]);
        for (int k = 0; k < n && z1 > z0; k++) {
            const double z = z0 + (z1 - z0) * (k + 0.5) / n;
            sum += tl_clip_ball(2, c, sqrt(r * r - z * z), low, high) * (z1 - z0) / n;
        }
        assert_true(fabs(tl_clip_ball(3, c, r, low, high) - sum) < 2e-6);
    }
}

static tl_box cell(void) {
    tl_box b = {.dim = 3,
                .low = {0.0, 0.2, -1.0},
                .high = {2.0, 0.6, 1.0},
                .period = {2.0, 1.0, 0.0},
                .whole = {true, false, false}};
    tl_box_measure(&b);
    return b;
}

static void images_in_a_cell(void **state) {
    (void)state;
    const tl_box b = cell();
    double x[3] = {-0.5, 0.95, 0.0}, image[TL_BOX_IMAGES][3];
    assert_true(fabs(b.volume - 2.0 * 0.4 * 2.0) < 1e-15);
    tl_box_wrap(&b, x); // cell along y: from -0.1 to 0.9
    assert_true(fabs(x[0] - 1.5) < 1e-15 && fabs(x[1] + 0.05) < 1e-15 && x[2] == 0.0);
    assert_false(tl_box_has(&b, x));
    assert_int_equal(tl_box_images(&b, x, 0.2, image), 0);
    assert_int_equal(tl_box_images(&b, x, 0.3, image), 1);
    assert_true(image[0][1] == x[1]);
    assert_int_equal(tl_box_images(&b, x, 0.4, image), 2); // from above, too: 0.95 - 0.4 < 0.6
    assert_true(fabs(image[1][1] - 0.95) < 1e-15);
    x[1] = 0.3, x[2] = 1.0;
    assert_false(tl_box_has(&b, x)); // the upper side does not belong to it
    x[2] = -1.0;
    assert_true(tl_box_has(&b, x));
    double tiny[3] = {-1e-300, 0.0, 0.0};
    tl_box_wrap(&b, tiny);
    assert_true(tiny[0] >= 0.0 && tiny[0] < 2.0);
}

static void lines_in_a_cell(void **state) {
    (void)state;
    const tl_box b = cell();
    const double x[3] = {5.0, 0.0, 0.0}, l[3] = {1.0, 1.0, 0.0}, flat[3] = {1.0, 0.0, 0.0};
    double from, to;
    assert_true(tl_clip_line(&b, x, l, &from, &to));
    assert_true(fabs(from - 0.2) < 1e-15 && fabs(to - 0.6) < 1e-15);
    assert_false(tl_clip_line(&b, x, flat, &from, &to));
    const double inside[3] = {0.0, 0.3, 0.9}, up[3] = {0.0, 0.0, -4.0};
    assert_true(tl_clip_line(&b, inside, up, &from, &to));
    assert_true(from == 0.0 && fabs(to - 1.9 / 4.0) < 1e-15);
}

// ∫ W = 1 in the plane and in space.
static void kernel_has_the_integral_one(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const tl_kernel k = tl_kernel_make(dim, 0.35);
        const int n = 2000;
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            const double r = 0.7 * (i + 0.5) / n;
            sum += tl_kernel_at(&k, r) * (dim == 2 ? 2.0 * pi * r : 4.0 * pi * r * r) * 0.7 / n;
        }
        assert_true(fabs(sum - 1.0) < 1e-5);
        assert_true(tl_kernel_at(&k, 0.7) == 0.0 && tl_kernel_at(&k, 0.69) > 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disks_by_chords),
        cmocka_unit_test(balls_by_hand),
        cmocka_unit_test(pieces_make_the_whole),
        cmocka_unit_test(balls_by_disks),
        cmocka_unit_test(images_in_a_cell),
        cmocka_unit_test(lines_in_a_cell),
        cmocka_unit_test(kernel_has_the_integral_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
