import { InvalidArgumentError, Option, type Command } from 'commander'

export interface EdgeAppsFlags {
  edgeApps: string[] | undefined
}

/** The systems whose kinds a site can serve. They stand here so that the command loads none of their code. */
const edgeSystems: readonly string[] = ['superedge', 'kubeedge', 'openyurt']

export function withEdgeApps(command: Command): Command {
  const text = `serve kinds of these systems for applications in groups of nodes: ${edgeSystems.join(', ')}`
  const option = new Option('--edge-apps <systems>', text).argParser(toEdgeSystems)
  return command.addOption(option.conflicts('disableControllerManager'))
}

function toEdgeSystems(text: string): string[] {
  const systems = text.split(',').filter((part) => part !== '')
  const unknown = systems.find((each) => !edgeSystems.includes(each))
  if (unknown === undefined && systems.length > 0) return systems
  throw new InvalidArgumentError(`give one or more of ${edgeSystems.join(', ')}`)
}
