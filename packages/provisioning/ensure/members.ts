import type { Shell } from '../contract/shell.ts'
import { StepError, type MachineContext } from '../contract/step.ts'
import { ask, must, places } from './commands.ts'

/** A member of the site's etcd, as a master sees it. */
export interface SeenMember {
  readonly name: string
  readonly isLearner: boolean
  readonly isHealthy: boolean
}

export interface SeenMembers {
  readonly hasQuorum: boolean
  /** The state of all in words. */
  readonly state: string
  readonly members: readonly SeenMember[]
}

type OnMaster = Pick<MachineContext, 'print' | 'signal'> & { readonly shell: Shell }

const dataDirectory = ['--data-dir', `${places.data}/site`] as const

/** Asks a master for the members. Rejects with a StepError if it cannot say. */
export async function membersAt(context: OnMaster): Promise<SeenMembers> {
  const command = [places.program, 'site', 'members', '-o', 'json', ...dataDirectory] as const
  return parsedMembers(await ask(context, command))
}

/** Removes a member by its name; the master refuses if the others could decide nothing without it. */
export async function removeAt(context: OnMaster, name: string): Promise<void> {
  const command = [places.program, 'site', 'remove-member', ...dataDirectory, '--', name] as const
  await must(context, command)
}

/** Returns the member if it has a vote. */
export function voterNamed({ members }: SeenMembers, name: string): SeenMember | undefined {
  return members.find((each) => each.name === name && !each.isLearner)
}

/** The machine may print what it likes, so each field is checked. */
function parsedMembers(text: string): SeenMembers {
  const told: unknown = parsed(text)
  if (typeof told === 'object' && told !== null && 'members' in told) {
    const { members, ...rest } = told
    if (Array.isArray(members)) {
      const [hasQuorum, state] = [
        'hasQuorum' in rest && rest.hasQuorum,
        'state' in rest && rest.state,
      ]
      return {
        hasQuorum: hasQuorum === true,
        state: typeof state === 'string' ? state.slice(0, 200) : '',
        members: members.flatMap(memberOf),
      }
    }
  }
  throw new StepError('the master lists its members in words that cannot be read')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports that there is no list.
    return undefined
  }
}

function memberOf(each: unknown): SeenMember[] {
  if (typeof each !== 'object' || each === null || !('name' in each)) return []
  const { name } = each
  if (typeof name !== 'string') return []
  const isLearner = !('isLearner' in each) || each.isLearner !== false
  const isHealthy = 'isHealthy' in each && each.isHealthy === true
  return [{ name, isLearner, isHealthy }]
}
