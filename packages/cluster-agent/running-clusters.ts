import { abortReason, linkedSignal, runAll, type LinkedSignal, type Task } from '@skerry/base'

/** The task of one virtual cluster. */
export interface RunningCluster {
  /** Equal texts mean the same work, which continues. */
  readonly version: string
  /** Runs until its scope aborts. */
  readonly task: Task
}

interface Running {
  readonly version: string
  readonly scope: LinkedSignal
  readonly ended: Promise<void>
}

/** The tasks of all virtual clusters, which come and go while the process runs. */
export class RunningClusters {
  readonly #running = new Map<string, Running>()
  readonly #failed = Promise.withResolvers<never>()
  #signal: AbortSignal | undefined

  /** Starts the task, or restarts it if its version changed. Call it only while `run` runs. */
  async ensure(name: string, { version, task }: RunningCluster): Promise<void> {
    const known = this.#running.get(name)
    if (known?.version === version) return
    await this.stop(name)
    if (this.#signal === undefined) throw new Error(`Cannot start cluster "${name}": not running`)
    const scope = linkedSignal(this.#signal)
    const ended = runAll(scope.signal, [task]).catch((error: unknown) => {
      if (!scope.signal.aborted) this.#failed.reject(error)
    })
    this.#running.set(name, { version, scope, ended })
  }

  /** Resolves when nothing of it runs any more. */
  async stop(name: string): Promise<void> {
    const known = this.#running.get(name)
    if (known === undefined) return
    this.#running.delete(name)
    known.scope.abort(new Error(`Cluster "${name}" is stopped`))
    await known.ended
    known.scope[Symbol.dispose]()
  }

  /** Runs until the signal aborts or a task fails; all tasks have ended when it rejects. */
  async run(signal: AbortSignal): Promise<never> {
    this.#signal = signal
    const aborted = Promise.withResolvers<never>()
    const onAbort = (): void => aborted.reject(abortReason(signal))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([aborted.promise, this.#failed.promise])
    } finally {
      signal.removeEventListener('abort', onAbort)
      this.#signal = undefined
      await Promise.all([...this.#running.keys()].map((name) => this.stop(name)))
    }
  }
}
