import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestHost } from '@skerry/testing'
import type { Answer, Order } from './orders.ts'

/** Clients in a host of their own. */
export interface HaClients extends AsyncDisposable {
  /** Resolves with the number that an order returns. Orders are obeyed one after the other. */
  order(order: Order): Promise<number>
}

export function startClients(host: TestHost): HaClients {
  const program = join(import.meta.dirname, 'ha-client.ts')
  const flags = ['--disable-warning=ExperimentalWarning', program]
  const child = host.start([process.execPath, ...flags], { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('Cannot start the clients: they have no input')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    async order(order) {
      stdin.write(`${JSON.stringify(order)}\n`)
      const { value, done } = await lines.next()
      if (done === true) throw new Error('Cannot measure: the clients have ended')
      // ha-client.ts prints this type.
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
