import assert from 'node:assert/strict'
import type { TestHost } from '@skerry/testing'

/** `unheard`: nothing from the host arrives; `deaf`: nothing arrives at it. */
export type LinkFault = 'cut' | 'unheard' | 'deaf'

const table = 'inet failed_links'

/** Makes the links between a host and some others fail, for all programs on them, until it is disposed. */
export async function failLinks(
  fault: LinkFault,
  host: TestHost,
  others: readonly TestHost[],
): Promise<AsyncDisposable> {
  const arrives = fault !== 'unheard'
  const leaves = fault !== 'deaf'
  // Packets are dropped where they arrive: a sender would learn of those that its own machine drops.
  if (arrives) await dropFrom(host, others)
  if (leaves) for (const other of others) await dropFrom(other, [host])
  return {
    async [Symbol.asyncDispose]() {
      if (arrives) await nft(host, `delete table ${table}`)
      if (leaves) for (const other of others) await nft(other, `delete table ${table}`)
    },
  }
}

function dropFrom(host: TestHost, senders: readonly TestHost[]): Promise<void> {
  const addresses = senders.map(({ address }) => address).join(', ')
  return nft(
    host,
    `table ${table} {
      chain arrives {
        type filter hook prerouting priority -300; policy accept;
        ip saddr { ${addresses} } drop
      }
    }`,
  )
}

async function nft(host: TestHost, input: string): Promise<void> {
  const { exitCode, stderr } = await host.run(['nft', '-f', '-'], { input })
  assert.equal(exitCode, 0, stderr)
}
