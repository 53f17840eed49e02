import { readdir, rm } from 'node:fs/promises'
import { basename, join, posix } from 'node:path'
import { installScript, type MachineProgram } from './install-script.ts'
import { packedFile, type PackedFile } from './packed-files.ts'
import { NoProgramError, ownArchitecture } from './held-programs.ts'
import {
  machineArchitectures,
  programForMachines,
  type ProgramOptions,
} from './program-for-machines.ts'

/** The program as bare machines fetch it. */
export interface ServedProgram {
  /** The script that installs it; the hashes of the files are in it. */
  readonly script: Uint8Array
  /** The program of each architecture, of which other scripts can be made. */
  readonly programs: readonly MachineProgram[]
  /** The files by their SHA-256. */
  readonly files: ReadonlyMap<string, PackedFile>
}

/** The directory of all programs on every machine. */
const programsDirectory = '/usr/local/lib/skerry'

/**
 * Packs the program for every architecture that this role has it for. Rejects with a NoProgramError if it has it for
 * none.
 */
export async function packProgram(
  options: ProgramOptions,
  signal: AbortSignal,
): Promise<ServedProgram> {
  const programs: MachineProgram[] = []
  const refusals = new Map<string, NoProgramError>()
  for (const architecture of machineArchitectures) {
    try {
      programs.push(await packFor(architecture, options, signal))
    } catch (error) {
      if (!(error instanceof NoProgramError)) throw error
      refusals.set(architecture, error)
    }
  }
  if (programs.length === 0) throw refusals.get(ownArchitecture)
  const files = programs.flatMap((program) => [program.archive ?? [], program.files].flat())
  await removeOthers(options.archiveDirectory, files)
  return {
    script: Buffer.from(installScript(programs)),
    programs,
    files: new Map(files.map((file) => [file.sha256, file])),
  }
}

async function packFor(
  architecture: string,
  options: ProgramOptions,
  signal: AbortSignal,
): Promise<MachineProgram> {
  const { archiveDirectory } = options
  const program = await programForMachines(architecture, options, signal)
  const directory = posix.join(programsDirectory, program.version)
  const files = []
  for (const { from, to, mode } of program.files) {
    // The name of an engine has the digest of its content, as the version has that of the rest.
    const name = to === 'skerry' ? `skerry-${program.version}` : basename(to)
    const packed = await packedFile(from, join(archiveDirectory, `${name}.gz`), signal)
    files.push({ ...packed, to: posix.join(directory, to), mode })
  }
  const { archive } = program
  return {
    architecture,
    directory,
    files,
    archive: archive === undefined ? undefined : await packedFile(archive, `${archive}.gz`, signal),
    launcher: program.launcher(directory),
  }
}

/** Removes packed files of other versions of the program. Downloads that run have them open. */
async function removeOthers(directory: string, files: readonly PackedFile[]): Promise<void> {
  const wanted = new Set(files.map(({ path }) => basename(path)))
  const packed = (await readdir(directory)).filter((name) => name.endsWith('.gz'))
  for (const name of packed.filter((each) => !wanted.has(each))) {
    await rm(join(directory, name), { force: true })
  }
}
