import { join } from 'node:path'
import type { Command } from 'commander'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example, runDirectoryDefault, toJson } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

/** Adds the commands for the images of the node on this machine. */
export function addImageCommands(program: Command): void {
  const image = program
    .command('image')
    .description('Manage images on this node, without a registry')
  const withNode = (command: Command): Command =>
    command
      .option('--node-dir <path>', "the node's data directory", join(dataDirectoryDefault, 'node'))
      .option('--run-dir <path>', "the node's run directory", join(runDirectoryDefault, 'node'))
      .option('-o, --output <format>', 'output format: json', toJson)
  withNode(image.command('import <archive>'))
    .description('Import an OCI layout or "docker save" archive')
    .addHelpText('after', example('skerry image import app.tar'))
    .action(async (archive: string, options: ImageFlags) => {
      const { importArchive } = await import('../../roles/node/image.ts')
      const names = await importArchive(archive, options, timeLimit())
      console.log(options.output === 'json' ? JSON.stringify({ images: names }) : names.join('\n'))
    })
  withNode(image.command('pull <images...>'))
    .description('Pull images before something needs them')
    .option('--pull-secret-stdin', 'read a docker config.json with credentials from standard input')
    .addHelpText('after', example('skerry image pull registry.example/shop/till:1.4'))
    .action(async (images: string[], options: ImageFlags & { pullSecretStdin?: boolean }) => {
      const { pullImages } = await import('../../roles/node/image.ts')
      const { readStandardInput } = await import('../../roles/runtime/standard-input.ts')
      const { stopSignal } = await import('../../roles/runtime/role-context.ts')
      const hasSecret = options.pullSecretStdin === true
      const dockerConfig = hasSecret ? await readStandardInput() : undefined
      const isJson = options.output === 'json'
      const print = (text: string): void => (isJson ? undefined : console.log(text))
      const pulled = await pullImages(images, { ...options, dockerConfig }, print, stopSignal())
      if (isJson) console.log(JSON.stringify({ images: pulled }))
    })
  withNode(image.command('list'))
    .description('List the images of the node')
    .addHelpText('after', example('skerry image list -o json'))
    .action(async (options: ImageFlags) => {
      const { listImages } = await import('../../roles/node/image.ts')
      const images = await listImages(options, timeLimit())
      if (options.output === 'json') console.log(JSON.stringify(images))
      else
        for (const each of images)
          console.log(`${each.name}\t${each.id.slice(7, 19)}\t${each.bytes}`)
    })
}

interface ImageFlags {
  nodeDir: string
  runDir: string
  output?: string
}

function timeLimit(): AbortSignal {
  return AbortSignal.timeout(commandBounds.answerMsMax)
}
