/** An order for ha-client.ts; `at` are paths of kubeconfigs. */
export type Order =
  | { readonly do: 'ask'; readonly at: string; readonly path: string }
  | { readonly do: 'leads'; readonly at: string; readonly host: string }
  | { readonly do: 'fill'; readonly at: string; readonly count: number; readonly prefix: string }
  | {
      readonly do: 'rate'
      readonly at: readonly string[]
      readonly clients: number
      readonly forMs: number
      readonly prefix: string
    }
  | {
      readonly do: 'write-again'
      readonly at: readonly string[]
      readonly faultMs: number
      readonly prefix: string
      readonly forMs: number
    }
  | {
      readonly do: 'controllers'
      readonly at: string
      readonly faultMs: number
      readonly name: string
      readonly forMs: number
    }

/** The machine's monotonic clock, which is the same in each process and namespace. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
