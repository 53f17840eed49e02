/** An order for cloud-client.ts; `at` is the path of a kubeconfig. */
export type Order =
  /** Makes clusters that are only objects. Returns their number. */
  | { readonly do: 'clusters'; readonly at: string; readonly count: number }
  /** Changes their status for a time. Returns the number of changes. */
  | {
      readonly do: 'change'
      readonly at: string
      readonly count: number
      readonly perSecond: number
      readonly forMs: number
    }
  /** Makes pods that are only objects. Returns their number. */
  | { readonly do: 'pods'; readonly at: string; readonly count: number }
  /** Opens the tabs that are missing, each at the overview, or closes those above. Returns the number of all. */
  | {
      readonly do: 'tabs'
      readonly at: string
      readonly server: string
      /** Tabs take turns with the users of these. */
      readonly tokens: readonly string[]
      readonly count: number
    }
  /** Returns the bytes that all tabs have received. */
  | { readonly do: 'tab-bytes' }
