/* The peer that a bootstrap of items is measured against: a plain loop in C, one thread.
 *
 * Votes are summed into points by item and pair; a replicate draws items with replacement, adds
 * their points, and climbs from the full fit by Newton's method (Cholesky) until no strength moves
 * by more than 1e-5. Ties count half a win for each side. Same model, same tolerance, own random
 * numbers (xorshift), as `hearteval.stats.bootstrap`.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next(uint64_t *s) {
    uint64_t x = *s;
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    return *s = x;
}

/* Solve (H + c 11') step = g in place by Cholesky; H is n by n, row-major. */
static void solve(double *h, double *g, int n) {
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++) h[j * n + j] -= h[j * n + k] * h[j * n + k];
        h[j * n + j] = sqrt(h[j * n + j]);
        for (int i = j + 1; i < n; i++) {
            for (int k = 0; k < j; k++) h[i * n + j] -= h[i * n + k] * h[j * n + k];
            h[i * n + j] /= h[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) g[i] -= h[i * n + k] * g[k];
        g[i] /= h[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) g[i] -= h[k * n + i] * g[k];
        g[i] /= h[i * n + i];
    }
}

/* Newton from theta; returns the steps taken. */
static int fit(const float *points, double *theta, int n, double *h, double *g, double *e) {
    for (int step = 1; step < 100; step++) {
        double shift = 0, most = 0;
        for (int i = 0; i < n; i++) e[i] = exp(theta[i]);
        memset(h, 0, sizeof(double) * n * n);
        memset(g, 0, sizeof(double) * n);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++) {
                double won = points[i * n + j], lost = points[j * n + i], both = won + lost;
                double p = e[i] / (e[i] + e[j]), v = both * p * (1 - p);
                g[i] += won - both * p;
                g[j] -= won - both * p;
                h[i * n + i] += v; h[j * n + j] += v; h[j * n + i] -= v;
            }
        for (int i = 0; i < n; i++) shift += h[i * n + i];
        shift /= (double)n * n;
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) h[i * n + j] += shift;
        solve(h, g, n);
        for (int i = 0; i < n; i++) {
            theta[i] += g[i];
            if (fabs(g[i]) > most) most = fabs(g[i]);
        }
        if (most <= 1e-5) return step;
    }
    return -1;
}

/* Rows hold left, right, item and twice the score; out is n_resamples by n. */
int bootstrap(const int32_t *left, const int32_t *right, const int32_t *item,
              const int32_t *twice_score, int64_t n_rows, int n, int n_items, int n_resamples,
              uint64_t seed, double *out) {
    size_t cells = (size_t)n * n;
    float *by_item = calloc(cells * n_items, sizeof(float));
    float *points = calloc(cells, sizeof(float));
    double *h = malloc(sizeof(double) * cells), *g = malloc(sizeof(double) * n);
    double *e = malloc(sizeof(double) * n), *full = calloc(n, sizeof(double));
    for (int64_t row = 0; row < n_rows; row++) {
        float won = 0.5f * twice_score[row];
        float *of_item = by_item + cells * item[row];
        of_item[left[row] * n + right[row]] += won;
        of_item[right[row] * n + left[row]] += 1 - won;
    }
    for (int i = 0; i < n_items; i++)
        for (size_t k = 0; k < cells; k++) points[k] += by_item[cells * i + k];
    int steps = fit(points, full, n, h, g, e);
    for (int r = 0; r < n_resamples; r++) {
        double *theta = out + (size_t)r * n;
        memset(points, 0, sizeof(float) * cells);
        for (int i = 0; i < n_items; i++) {
            const float *of_item = by_item + cells * (next(&seed) % n_items);
            for (size_t k = 0; k < cells; k++) points[k] += of_item[k];
        }
        memcpy(theta, full, sizeof(double) * n);
        if (fit(points, theta, n, h, g, e) < 0) steps = -1;
    }
    free(by_item); free(points); free(h); free(g); free(e); free(full);
    return steps;
}
