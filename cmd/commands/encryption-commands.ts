import type { Command } from 'commander'
import { join } from 'node:path'
import { dataDirectoryDefault } from '../../roles/runtime/data-directory.ts'
import { example } from '../flags/option-values.ts'
import { commandBounds } from '../limits-table.ts'

/** Adds the commands for the keys with which a site or hub encrypts Secrets at rest. */
export function addEncryptionCommands(program: Command): void {
  program
    .command('encryption')
    .description('Manage the encryption of secrets at rest')
    .command('rotate')
    .description(
      'Encrypt all secrets of a running site or hub with a new key, and drop the old one',
    )
    .option(
      '--data-dir <path>',
      'data directory of the site or hub',
      join(dataDirectoryDefault, 'site'),
    )
    .addHelpText('after', example('skerry encryption rotate'))
    .action(async (options: { dataDir: string }) => {
      const { rotateEncryption } = await import('../../roles/client/site/rotate-encryption.ts')
      const { keyName } = await rotateEncryption(
        options.dataDir,
        (text) => console.log(text),
        AbortSignal.timeout(commandBounds.encryptionCommands.rotateMsMax),
      )
      console.log(`${keyName} is the only key; back up pki/encryption.yaml`)
    })
}
