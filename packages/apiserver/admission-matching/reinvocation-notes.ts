import { cloneJson, equalJson, type AnyObject } from '@skerry/api'
import type { AdmissionRequest } from '../contract/admission.ts'

/**
 * Records what one plugin did in the first round, to decide which webhooks or policies to call
 * again in the second.
 */
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

  /**
   * In the second round, checks whether this server's plugins changed the object after the first.
   */
  start({ reinvocation, object }: AdmissionRequest): void {
    if (reinvocation.isSecond && !equalJson(this.#output, object)) this.#callAgain()
  }

  finish({ reinvocation, object }: AdmissionRequest): void {
    if (reinvocation.isWanted && !reinvocation.isSecond && object) this.#output = cloneJson(object)
  }

  /** Callees that have already run have not seen this change. */
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

/** Replaces the content in place, so that every holder of the object sees the change. */
export function replaceContent(target: AnyObject, source: AnyObject): void {
  for (const key of Object.keys(target)) if (!(key in source)) delete target[key]
  Object.assign(target, source)
}
