import type { LuaPlace, LuaProto } from './lua-syntax.ts'

type Capture = LuaProto['captures'][number]

/** The names visible in one function while it is parsed. */
export class LuaScope {
  readonly hasVarargs: boolean
  readonly captures: Capture[] = []
  readonly #around: LuaScope | undefined
  readonly #blocks: Map<string, number>[] = [new Map()]
  readonly #captured = new Map<string, number>()
  #slotCount = 0
  loops = 0

  constructor(around: LuaScope | undefined, hasVarargs: boolean) {
    this.#around = around
    this.hasVarargs = hasVarargs
  }

  get slotCount(): number {
    return this.#slotCount
  }

  openBlock(): void {
    this.#blocks.push(new Map())
  }

  closeBlock(): void {
    this.#blocks.pop()
  }

  /** Declares a new local, which hides others of its name from now on. */
  declare(name: string): number {
    const slot = this.#slotCount
    this.#slotCount += 1
    this.#blocks.at(-1)?.set(name, slot)
    return slot
  }

  resolve(name: string): LuaPlace {
    const slot = this.#slotOf(name)
    if (slot !== undefined) return { type: 'local', slot }
    const index = this.#capture(name)
    return index === undefined ? { type: 'global', name } : { type: 'captured', index }
  }

  #slotOf(name: string): number | undefined {
    for (const block of this.#blocks.toReversed()) {
      const slot = block.get(name)
      if (slot !== undefined) return slot
    }
    return undefined
  }

  /** The meaning of the name in the enclosing function does not change while this one is parsed. */
  #capture(name: string): number | undefined {
    const known = this.#captured.get(name)
    if (known !== undefined) return known
    const around = this.#around
    if (around === undefined) return undefined
    const slot = around.#slotOf(name)
    const outer = slot === undefined ? around.#capture(name) : slot
    if (outer === undefined) return undefined
    const index = this.captures.length
    this.captures.push({ from: slot === undefined ? 'captured' : 'local', index: outer })
    this.#captured.set(name, index)
    return index
  }
}
