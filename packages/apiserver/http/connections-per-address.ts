import type { Socket } from 'node:net'

/** Counts the open connections of each address, whether or not they have asked for anything. */
export class ConnectionsPerAddress {
  readonly #max: number
  readonly #open = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** Returns false if the address has too many. Otherwise the connection counts until it is closed. */
  take(socket: Socket): boolean {
    const { remoteAddress: address = '' } = socket
    const count = this.#open.get(address) ?? 0
    if (count >= this.#max) return false
    this.#open.set(address, count + 1)
    socket.once('close', () => {
      const left = (this.#open.get(address) ?? 1) - 1
      if (left === 0) this.#open.delete(address)
      else this.#open.set(address, left)
    })
    return true
  }
}
