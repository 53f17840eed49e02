import { abortReason, linkedSignal } from '@skerry/base'

/**
 * Runs tasks by name while their owner lives: each can be stopped alone, all end with the owner, and a
 * failure goes to the owner instead of getting lost.
 */
export class TaskGroup implements AsyncDisposable {
  readonly #tasks = new Map<
    string,
    { scope: ReturnType<typeof linkedSignal>; done: Promise<void> }
  >()
  readonly #onFailure: (name: string, error: unknown) => void
  readonly #signal: AbortSignal

  constructor(signal: AbortSignal, onFailure: (name: string, error: unknown) => void) {
    this.#signal = signal
    this.#onFailure = onFailure
  }

  get size(): number {
    return this.#tasks.size
  }

  names(): string[] {
    return [...this.#tasks.keys()]
  }

  has(name: string): boolean {
    return this.#tasks.has(name)
  }

  /** Does nothing if a task of that name runs. */
  add(name: string, task: (scope: AbortSignal) => Promise<void>): void {
    if (this.#tasks.has(name) || this.#signal.aborted) return
    const scope = linkedSignal(this.#signal)
    const run = async (): Promise<void> => {
      try {
        await task(scope.signal)
      } catch (error) {
        if (!scope.signal.aborted) this.#onFailure(name, error)
      } finally {
        scope[Symbol.dispose]()
        this.#tasks.delete(name)
      }
    }
    // The entry is made first, so that a task that ends at once can remove it.
    const started = Promise.withResolvers<void>()
    this.#tasks.set(name, { scope, done: started.promise })
    run().then(started.resolve, started.reject)
  }

  /** Tells the task to end and does not wait for it. */
  cancel(name: string): void {
    this.#tasks.get(name)?.scope.abort(new Error(`Stopped: ${name}`))
  }

  /** Resolves when the task has ended; at once when there is none. */
  async stop(name: string): Promise<void> {
    const task = this.#tasks.get(name)
    if (!task) return
    this.cancel(name)
    await task.done
  }

  /** Waits for the owner's signal and then for every task. */
  async untilAborted(): Promise<void> {
    if (!this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
    await this[Symbol.asyncDispose]()
    throw abortReason(this.#signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.names().map((name) => this.stop(name)))
  }
}
