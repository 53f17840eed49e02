import { provisioningBounds } from '../limits-table.ts'
import { StepError, type OwnMachineContext } from '../contract/step.ts'
import { must } from './commands.ts'
import { factsScript, findingsOf, parseFacts } from './preflight-facts.ts'

/** Checks a machine before anything is changed on it. */
export async function preflight(context: OwnMachineContext): Promise<string> {
  const { machine, machines, edge, clock, print } = context
  const text = await must(context, ['sh', '-c', factsScript], { isQuiet: true })
  if (text.length > provisioningBounds.preflight.factsBytesMax) {
    throw new StepError(`${machine.address} prints more than facts about itself`, { isFinal: true })
  }
  const facts = parseFacts(text)
  for (const name of ['os', 'architecture', 'kernel', 'host', 'processors', 'memory', 'disk']) {
    print(`${name}: ${facts.get(name)?.[0] ?? ''}`)
  }
  const clusterName = edge.spec.clusterName ?? edge.metadata.name ?? ''
  const findings = findingsOf(facts, { role: machine.role, clusterName, nowMs: clock.now() })
  if (findings.length > 0) {
    for (const finding of findings) print(finding)
    throw new StepError(`${machine.address}: ${findings.join('; ')}`, { isFinal: true })
  }
  const count = machines.length
  return `${facts.get('os')?.[0] ?? ''}, ${facts.get('architecture')?.[0] ?? ''}${count > 1 ? `, host ${facts.get('host')?.[0] ?? ''}` : ''}`
}
