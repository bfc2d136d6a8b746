// SPDX-License-Identifier: Apache-2.0
// Coarser pictures while the camera moves, where fine ones come too slowly.

const SLOW = 70; // ms between pictures that are too long
const COARSEST = 0.35;

export class Ease {
    private ratio = 1;
    private last = 0;
    private moving = false;

    constructor(private readonly apply: (ratio: number) => void) {}

    begin(): void {
        this.moving = true;
        this.last = 0;
    }

    /** The camera rests: as fine as it can be again. */
    end(): void {
        this.moving = false;
        this.set(1);
    }

    /** Called at each picture. */
    drawn(clock: number): void {
        if (!this.moving) return;
        const took = clock - this.last;
        if (this.last > 0 && took > SLOW && took < 2000) this.set(Math.max(COARSEST, this.ratio * 0.7));
        this.last = clock;
    }

    private set(ratio: number): void {
        if (ratio === this.ratio) return;
        this.ratio = ratio;
        this.apply(ratio);
    }
}
