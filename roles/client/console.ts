import { openChosenHub } from '../admin/admin-cluster.ts'
import type { ChosenHub } from '../admin/chosen-hub.ts'
import { makeConsoleLink } from '../admin/console-link.ts'
import { askMs } from './limits-table.ts'

export interface ConsoleOptions extends ChosenHub {
  /** Either json or, if omitted, the link alone. */
  output: string | undefined
}

/** Prints a link that logs its reader in to the web console, once. Throws ExpectedError. */
export async function printConsoleLink({ output, ...chosen }: ConsoleOptions): Promise<void> {
  const hub = await openChosenHub(chosen)
  const made = await makeConsoleLink(hub, AbortSignal.timeout(askMs))
  console.log(output === 'json' ? JSON.stringify(made) : made.link)
}
