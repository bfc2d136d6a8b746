// SPDX-License-Identifier: Apache-2.0
// Values that others can listen to.

export class Store<T extends object> {
    private readonly listeners: ((value: Readonly<T>, changed: Set<keyof T>) => void)[] = [];
    constructor(private value: T) {}
    get(): Readonly<T> {
        return this.value;
    }
    set(patch: Partial<T>): void {
        const changed = new Set<keyof T>();
        for (const key of Object.keys(patch) as (keyof T)[]) {
            if (this.value[key] !== patch[key]) changed.add(key);
        }
        if (changed.size === 0) return;
        this.value = {...this.value, ...patch};
        for (const listen of this.listeners) listen(this.value, changed);
    }
    /** Called at every change. */
    on(listen: (value: Readonly<T>, changed: Set<keyof T>) => void): void {
        this.listeners.push(listen);
    }
}

/** A list of functions to call. */
export class Signal<T> {
    private readonly listeners: ((value: T) => void)[] = [];
    on(listen: (value: T) => void): void {
        this.listeners.push(listen);
    }
    emit(value: T): void {
        for (const listen of this.listeners) listen(value);
    }
}
