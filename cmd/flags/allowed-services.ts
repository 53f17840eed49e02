import { InvalidArgumentError, type Command } from 'commander'
import { parseAllowedService, type AllowedService } from '@skerry/fleet-kinds'

export interface AllowedServicesFlags {
  allowService: AllowedService[]
}

/** Adds the option for the services of the cluster that the hub may reach; by default none. */
export function withAllowedServices(command: Command): Command {
  return command.option(
    '--allow-service <namespace/name:port>',
    'the hub may reach the pods of this service; * for name or port (repeatable). anywhere=<namespace/name:port>: also endpoints written by hand, and a name elsewhere',
    collectAllowed,
    [],
  )
}

function collectAllowed(text: string, previous: AllowedService[]): AllowedService[] {
  const allowed = parseAllowedService(text)
  if (allowed) return [...previous, allowed]
  throw new InvalidArgumentError(
    'use namespace/name:port, e.g. shop/web:80, "shop/*:http", anywhere=shop/db:5432',
  )
}
