import type { Command } from 'commander'
import { ExpectedError, exitCodes, systemClock } from '@skerry/base'
import { example } from '../flags/option-values.ts'
import { toBitsPerSecond, toInterface, toNetns, toPercent, toSpanMs } from '../flags/link-flags.ts'

interface LinkFlags {
  interface: string
  netns: string | undefined
  delay: number | undefined
  loss: number | undefined
  rate: number | undefined
  cutEvery: number | undefined
  cutFor: number
  for: number | undefined
  off: boolean | undefined
  yes: boolean | undefined
}

/** Adds the command that makes a link bad, for tests of users. */
export function addSimulateCommand(program: Command): void {
  const simulate = program.command('simulate').description('Simulate faults of an edge, for tests')
  simulate
    .command('link')
    .description('Make the link at an interface bad until this command ends')
    .requiredOption('--interface <name>', 'the interface, e.g. eth0', toInterface)
    .option('--netns <name>', 'the network namespace in which it is', toNetns)
    .option(
      '--delay <time>',
      'delay of packets that leave, e.g. 150ms; needs netem in the kernel',
      toSpanMs,
    )
    .option(
      '--loss <percent>',
      'share of packets that are lost in each direction, e.g. 2%',
      toPercent,
    )
    .option('--rate <rate>', 'rate in each direction, e.g. 256kbit or 20mbit', toBitsPerSecond)
    .option('--cut-every <time>', 'cut the link so often, e.g. 60s', toSpanMs)
    .option('--cut-for <time>', 'length of each cut (default: 5s)', toSpanMs, 5_000)
    .option('--for <time>', 'end after so long (default: until it is interrupted)', toSpanMs)
    .option('--off', 'put the link back after a simulation that could not')
    .option('--yes', 'do it at an interface of this machine itself, outside a named namespace')
    .addHelpText(
      'after',
      example(
        'skerry simulate link --netns edge-1 --interface eth0 --loss 2% --rate 1mbit',
        'skerry simulate link --interface eth1 --yes --cut-every 60s --cut-for 10s --for 1h',
        'skerry simulate link --netns edge-1 --interface eth0 --off',
      ),
    )
    .action(runLink)
}

async function runLink(flags: LinkFlags): Promise<void> {
  const { simulateLink, endSimulation } = await import('../../roles/client/link/simulate-link.ts')
  const { stopSignal } = await import('../../roles/runtime/role-context.ts')
  const place = { interface: flags.interface, netns: flags.netns }
  if (flags.netns === undefined && flags.yes !== true) {
    throw new ExpectedError(
      'Cannot simulate the link: it is one of this machine, which may lose its network; name a namespace with --netns, or pass --yes',
      exitCodes.usage,
    )
  }
  const signal = stopSignal()
  const deps = { clock: systemClock, print: (line: string) => console.log(line) }
  if (flags.off === true) return endSimulation(place, deps, signal)
  const faults = faultsOf(flags)
  const over = new AbortController()
  using _end =
    flags.for === undefined
      ? undefined
      : systemClock.setTimer(flags.for, () => over.abort(new Error('the time is over')))
  const scope = AbortSignal.any([signal, over.signal])
  try {
    await simulateLink(faults, place, deps, scope)
  } catch (error) {
    if (!scope.aborted || error !== scope.reason) throw error
    console.log('The link is as before')
  }
}

function faultsOf({ delay, loss, rate, cutEvery, cutFor }: LinkFlags) {
  if (delay === undefined && loss === undefined && rate === undefined && cutEvery === undefined) {
    const text = 'Cannot simulate the link: name a fault, --delay, --loss, --rate or --cut-every'
    throw new ExpectedError(text, exitCodes.usage)
  }
  if (cutEvery !== undefined && cutFor >= cutEvery) {
    const text = 'Cannot simulate the link: --cut-for must be shorter than --cut-every'
    throw new ExpectedError(text, exitCodes.usage)
  }
  return {
    ...(delay === undefined ? {} : { delayMs: delay }),
    ...(loss === undefined ? {} : { lossPercent: loss }),
    ...(rate === undefined ? {} : { bitsPerSecond: rate }),
    ...(cutEvery === undefined ? {} : { cuts: { everyMs: cutEvery, forMs: cutFor } }),
  }
}
