// SPDX-License-Identifier: Apache-2.0
// Numbers for people.

/** Some significant digits, with an exponent only where it is shorter. */
export function figure(x: number | null | undefined, digits = 4): string {
    if (x === null || x === undefined || !isFinite(x)) return "–";
    if (x === 0) return "0";
    const size = Math.abs(x);
    if (size >= 1e5 || size < 1e-3) return tidy(x.toExponential(digits - 1));
    return size >= 10 ** digits ? tidy(String(Math.round(x))) : tidy(x.toPrecision(digits));
}

// No zeros at the end of decimals, a real minus sign, exponents as powers.
function tidy(text: string): string {
    const [mantissa, exponent] = text.split("e");
    const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
    const power = exponent === undefined ? "" : `e${Number(exponent)}`;
    return (short + power).replace(/-/g, "\u2212");
}

export function vector(v: ArrayLike<number>, dim: number): string {
    return Array.from({length: dim}, (_, k) => figure(v[k])).join("  ");
}

export function seconds(t: number, span: number): string {
    const decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.max(span, 1e-9)))));
    return t.toFixed(decimals);
}

export function count(n: number): string {
    return n.toLocaleString("en").replace(/,/g, "\u202f");
}
