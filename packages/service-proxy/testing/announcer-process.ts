/**
 * Announces addresses in the network namespace that it was started in, for a test: `<node's address> <address>…`. It prints
 * the addresses that it holds after each change.
 */
import { createLogger, systemClock } from '@skerry/base'
import { createAnnouncer } from '../announce/announcer.ts'

const [nodeAddress = '', ...wanted] = process.argv.slice(2)
const announcer = createAnnouncer({
  nodeAddress: () => nodeAddress,
  onHeld: () => process.stdout.write(`held ${[...announcer.held].join(' ')}\n`),
  onNetwork: (network) => process.stdout.write(`network ${network}\n`),
  clock: systemClock,
  log: createLogger({ level: 'info', destination: process.stdout }),
})
announcer.setWanted(new Set(wanted))
await announcer.run(new AbortController().signal)
