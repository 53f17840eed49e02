import { cloneJson, equalJson, type AnyObject } from '@skerry/api'
import type { AdmissionRequest } from '../contract/admission.ts'

/** What one plugin knows of the first round, to decide whom to ask again in the second. */
export class ReinvocationNotes {
  readonly #asked = new Set<string>()
  readonly #due = new Set<string>()
  #output: AnyObject | undefined

  static of({ reinvocation }: AdmissionRequest, plugin: string): ReinvocationNotes {
    const known = reinvocation.notes.get(plugin)
    if (known instanceof ReinvocationNotes) return known
    const made = new ReinvocationNotes()
    reinvocation.notes.set(plugin, made)
    return made
  }

  /** In the second round: did plugins of this server change the object after the first? */
  start({ reinvocation, object }: AdmissionRequest): void {
    if (reinvocation.isSecond && !equalJson(this.#output, object)) this.#callAgain()
  }

  finish({ reinvocation, object }: AdmissionRequest): void {
    if (reinvocation.isWanted && !reinvocation.isSecond && object) this.#output = cloneJson(object)
  }

  /** Whoever was asked before this change has not seen it. */
  onChanged({ reinvocation }: AdmissionRequest): void {
    this.#callAgain()
    reinvocation.isWanted = true
  }

  onAsked(uid: string): void {
    this.#asked.add(uid)
  }

  isDue(uid: string): boolean {
    return this.#due.has(uid)
  }

  #callAgain(): void {
    for (const uid of this.#asked) this.#due.add(uid)
    this.#asked.clear()
  }
}

/** In place: whoever holds the object sees the change. */
export function replaceContent(target: AnyObject, source: AnyObject): void {
  for (const key of Object.keys(target)) if (!(key in source)) delete target[key]
  Object.assign(target, source)
}
