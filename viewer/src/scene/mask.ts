// SPDX-License-Identifier: Apache-2.0
// Which pixels of the picture are covered, one bit each. A pixel belongs to a disk when its middle does. Tiles of 8 x 8
// pixels that are covered wholly are known, so that most questions are answered by a few of them.

export class Mask {
    private width = 0;
    private height = 0;
    private across = 0; // tiles in a row
    private bits = new Uint8Array(0); // 8 pixels of a row each
    private full = new Uint8Array(0); // one per tile

    /** No pixel is covered. */
    clear(width: number, height: number): void {
        this.width = width;
        this.height = height;
        this.across = (width + 7) >> 3;
        const tiles = this.across * ((height + 7) >> 3);
        if (this.full.length !== tiles) {
            this.full = new Uint8Array(tiles);
            this.bits = new Uint8Array(8 * tiles);
        } else {
            this.full.fill(0);
            this.bits.fill(0);
        }
        // What a tile has beyond the picture counts as covered.
        if (width & 7) for (let j = 0; j < 8 * tiles; j += this.across) this.bits[j + this.across - 1] = 0xff << (width & 7);
        this.bits.fill(0xff, height * this.across);
    }

    /** Are all pixels of a disk covered that are in the picture? Also where there are none. Lengths in pixels. */
    has(x: number, y: number, radius: number): boolean {
        return this.tiles(x, y, radius, false) || this.rows(x, y, radius, false);
    }

    /** Cover the pixels of a disk. */
    add(x: number, y: number, radius: number): void {
        this.rows(x, y, radius, true);
        this.tiles(x, y, radius, true);
    }

    // Are all tiles about a disk covered wholly? `look`: see first which of them are now.
    private tiles(x: number, y: number, radius: number, look: boolean): boolean {
        const {full, bits, across} = this;
        const left = Math.max(0, x - radius) >> 3;
        const right = Math.min(this.width - 1, x + radius) >> 3;
        const top = Math.min(this.height - 1, y + radius) >> 3;
        for (let j = Math.max(0, y - radius) >> 3; j <= top; j++) {
            for (let i = left; i <= right; i++) {
                if (full[j * across + i] !== 0) continue;
                if (!look) return false;
                let at = 8 * j * across + i;
                let all = 0xff;
                for (let k = 0; k < 8; k++, at += across) all &= bits[at];
                if (all === 0xff) full[j * across + i] = 1;
            }
        }
        return true;
    }

    // Cover a disk row by row, or see whether it is covered.
    private rows(x: number, y: number, radius: number, cover: boolean): boolean {
        const {bits, across} = this;
        const right = this.width - 0.5;
        const last = Math.min(this.height - 1, Math.floor(y + radius - 0.5));
        for (let j = Math.max(0, Math.ceil(y - radius - 0.5)); j <= last; j++) {
            const d = j + 0.5 - y;
            const half = Math.sqrt(Math.max(0, radius * radius - d * d));
            // Middles from x - half to x + half; below 0 and beyond the width there are none.
            const from = Math.max(0, x - half + 0.5) | 0;
            const to = (Math.min(right, x + half) + 0.5) | 0; // the first that is not
            if (from >= to) continue;
            const end = j * across + ((to - 1) >> 3);
            let bit = 0xff << (from & 7);
            for (let k = j * across + (from >> 3); k <= end; k++, bit = 0xff) {
                if (k === end) bit &= 0xff >> (7 - ((to - 1) & 7));
                if (cover) bits[k] |= bit;
                else if ((~bits[k] & bit & 0xff) !== 0) return false;
            }
        }
        return true;
    }
}
