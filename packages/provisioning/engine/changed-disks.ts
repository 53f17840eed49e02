import type { PlannedMachine } from '../kind/machine-addresses.ts'
import type { Shell } from '../contract/shell.ts'
import { syncDisk } from '../shell/sync-disk.ts'

/** The machines that a step has opened, with those of them whose disks have its work only in memory so far. */
export class ChangedDisks {
  readonly #isRepeated: boolean
  readonly #changed = new Map<string, Shell>()

  /** A step that is repeated counts as one that changes every machine that it opens. */
  constructor(isRepeated: boolean) {
    this.#isRepeated = isRepeated
  }

  /** Returns the machine for a step, whose every change is noticed. */
  watch({ address }: PlannedMachine, shell: Shell): Shell {
    const change = (): void => void this.#changed.set(address, shell)
    if (this.#isRepeated) change()
    return {
      hostKey: shell.hostKey,
      run(command, options = {}) {
        if (options.keepsFiles !== true) change()
        return shell.run(command, options)
      },
      write(...file) {
        change()
        return shell.write(...file)
      },
      upload(...file) {
        change()
        return shell.upload(...file)
      },
      uploadByDigest(files, ...rest) {
        if (files.length > 0) change()
        return shell.uploadByDigest(files, ...rest)
      },
      [Symbol.asyncDispose]: () => shell[Symbol.asyncDispose](),
    }
  }

  /** A step is not done before these disks have its work: a power cut would leave empty files behind. */
  async outliveCuts(signal: AbortSignal): Promise<void> {
    for (const shell of this.#changed.values()) await syncDisk(shell, signal)
  }
}
