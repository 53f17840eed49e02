import type { TestHost } from './test-network.ts'

/** `in` drops what arrives at the host, `out` what it sends: the other way stays open. */
export type CutWay = 'both' | 'in' | 'out'

let cutsMade = 0

/**
 * Drops the packets between a host and others until disposed, as a router does that has lost a route: both ends keep
 * their connections and hear nothing.
 */
export async function cutHosts(
  host: TestHost,
  others: readonly TestHost[],
  way: CutWay = 'both',
): Promise<AsyncDisposable> {
  const table = `skerry_cut_${(cutsMade += 1)}`
  const addresses = others.map(({ address }) => address).join(', ')
  const rules = {
    in: `chain in {\n type filter hook input priority -400\n ip saddr { ${addresses} } drop\n}`,
    out: `chain out {\n type filter hook output priority -400\n ip daddr { ${addresses} } drop\n}`,
  }
  const chains = way === 'both' ? `${rules.in}\n${rules.out}` : rules[way]
  await nft(host, `table ip ${table} {\n${chains}\n}\n`)
  return { [Symbol.asyncDispose]: () => nft(host, `delete table ip ${table}\n`) }
}

async function nft(host: TestHost, input: string): Promise<void> {
  const { exitCode, stderr } = await host.run(['nft', '-f', '-'], { input })
  if (exitCode !== 0) throw new Error(`Cannot change the rules of ${host.name}: ${stderr}`)
}
