import type { JumpHost } from '../kind/block-way.ts'
import { jumpText } from '../kind/edge-cluster-ways.ts'
import { provisioningBounds } from '../limits-table.ts'
import type { Jump, Way } from '../contract/ways.ts'

/** The jump hosts of one round. The machines behind one share its login, until that has all its connections. */
export class JumpHosts implements AsyncDisposable {
  readonly #openJump: (jump: JumpHost, signal: AbortSignal) => Promise<Jump>
  readonly #opened = new Map<string, Promise<Jump>[]>()

  constructor(openJump: (jump: JumpHost, signal: AbortSignal) => Promise<Jump>) {
    this.#openJump = openJump
  }

  /** Resolves with a way through the jump host once that is open, so that its errors are not taken for the machine's. */
  async wayThrough(jump: JumpHost, signal: AbortSignal): Promise<Way> {
    const { address, port = 22, user = 'root', credentials } = jump
    const key = JSON.stringify([address, port, user, credentials.name])
    await this.#free(key, jump, signal)
    return {
      text: `through jump host ${jumpText(jump)}`,
      dial: async (to, scope) => (await this.#free(key, jump, scope)).dial(to, scope),
    }
  }

  async #free(key: string, jump: JumpHost, signal: AbortSignal): Promise<Jump> {
    for (const opening of this.#opened.get(key) ?? []) {
      const known = await opening
      if (known.isBroken) this.#forget(key, opening)
      else if (known.channels < provisioningBounds.shell.forwardsMax) return known
    }
    const opening = this.#openJump(jump, signal)
    this.#opened.set(key, [...(this.#opened.get(key) ?? []), opening])
    try {
      return await opening
    } catch (error) {
      this.#forget(key, opening)
      throw error
    }
  }

  #forget(key: string, opening: Promise<Jump>): void {
    const left = (this.#opened.get(key) ?? []).filter((each) => each !== opening)
    this.#opened.set(key, left)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of [...this.#opened.values()].flat()) {
      const jump = await opening.catch(() => undefined)
      await jump?.[Symbol.asyncDispose]()
    }
  }
}
