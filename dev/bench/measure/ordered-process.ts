import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { TestHost } from '@skerry/testing'

export type Answer = { readonly value: number } | { readonly error: string }

/** A script that obeys orders of this type on a host of its own. */
export interface OrderedProcess<Order extends { readonly do: string }> extends AsyncDisposable {
  /** Resolves with the number that an order returns. Orders are obeyed one after the other. */
  order(order: Order): Promise<number>
}

/** Starts a script that reads orders in JSON from lines of its input, and answers each with a line. */
export function startOrdered<Order extends { readonly do: string }>(
  host: TestHost,
  script: string,
): OrderedProcess<Order> {
  const flags = ['--disable-warning=ExperimentalWarning', script]
  const child = host.start([process.execPath, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('Cannot start the clients: they have no input')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    async order(order) {
      stdin.write(`${JSON.stringify(order)}\n`)
      const { value, done } = await lines.next()
      if (done === true) throw new Error('Cannot measure: the clients have ended')
      // obeyOrders prints this type.
      const answer = JSON.parse(value) as Answer
      if ('value' in answer) return answer.value
      throw new Error(`Cannot measure: ${order.do}: ${answer.error}`)
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      stdin.end()
      await exited
    },
  }
}
