import { join } from 'node:path'
import type { TestHost } from '@skerry/testing'
import { startOrdered, type OrderedProcess } from '../measure/ordered-process.ts'
import type { Order } from './orders.ts'

/** Clients in a host of their own. */
export type HaClients = OrderedProcess<Order>

export function startClients(host: TestHost): HaClients {
  return startOrdered(host, join(import.meta.dirname, 'ha-client.ts'))
}
