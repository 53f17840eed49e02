import { createInterface } from 'node:readline'
import { messageOf } from '@skerry/base'
import type { Answer } from './ordered-process.ts'

/** Obeys the orders that come in lines of the input, one after the other, until it ends. */
export async function obeyOrders<Order>(obey: (order: Order) => Promise<number>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    // startOrdered sends this type.
    const answer = await obey(JSON.parse(line) as Order).then(
      (value): Answer => ({ value }),
      (error: unknown): Answer => ({ error: messageOf(error) }),
    )
    console.log(JSON.stringify(answer))
  }
}
