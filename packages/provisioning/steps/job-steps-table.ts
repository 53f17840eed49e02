import type { JobOrder, Step } from '../contract/step.ts'
import { awaitConfirmation } from '../ensure/await-confirmation.ts'
import { backupStore } from '../ensure/backup-store.ts'
import { checkMachine } from '../ensure/check-machine.ts'
import { awaitOptions, configure, keepForLater, restoreOptions } from '../ensure/configure.ts'
import { installBeside } from '../ensure/install-beside.ts'
import { copyJobPackage, installJobPackage, jobHasPackage } from '../ensure/job-package.ts'
import { pullImages } from '../ensure/pull-images.ts'
import { rollBack } from '../ensure/roll-back.ts'
import { awaitProgram, removeOldPrograms, switchProgram } from '../ensure/switch-program.ts'

/**
 * Returns every step of a job on one cluster, in order. Those before the first that disrupts prepare all machines; those
 * from there on are done on one machine after another, masters first.
 */
export function jobSteps(order: JobOrder): readonly Step[] {
  const { upgrade, configure: options, pullImages: pull, requireConfirmation } = order.job.spec
  const check: Step = {
    name: 'CheckMachine',
    does: 'log in; check health, free disk and the skew of versions; change nothing',
    needs: [],
    place: 'machines',
    act: checkMachine(order),
  }
  const images: Step = {
    name: 'PullImages',
    does: 'let the node pull the images',
    needs: ['CheckMachine'],
    place: 'machines',
    // A job of its own pulls on as many machines at once as it says.
    disrupts: pull !== undefined,
    applies: () => (upgrade?.images ?? pull?.images ?? []).length > 0,
    act: pullImages(order),
  }
  const confirm: Step = {
    name: 'Confirm',
    does: 'wait until a person confirms at the machine or at the hub',
    needs: ['CheckMachine'],
    place: 'machines',
    applies: () => requireConfirmation === true,
    act: awaitConfirmation(order),
  }
  if (upgrade !== undefined) {
    return [check, ...programSteps(order), images, confirm, ...upgradeSteps(order)]
  }
  if (options !== undefined) return [check, confirm, ...configureSteps(order)]
  return [check, confirm, images]
}

/** Bring the program to the machine. Nothing uses it yet. */
function programSteps(order: JobOrder): Step[] {
  return [
    {
      name: 'CopyPackage',
      does: 'copy the files of the offline package that the machine lacks',
      needs: ['CheckMachine'],
      place: 'machines',
      applies: () => jobHasPackage(order),
      act: copyJobPackage(order),
    },
    {
      name: 'InstallProgram',
      does: 'put the new program next to the old one, and see that it starts',
      needs: ['CheckMachine', 'CopyPackage'],
      place: 'machines',
      act: installBeside(order),
    },
  ]
}

function upgradeSteps(order: JobOrder): Step[] {
  const hasPackage = (): boolean => jobHasPackage(order)
  return [
    {
      name: 'BackupStore',
      does: 'copy the store of the site, and check that the new program reads it',
      needs: ['InstallProgram'],
      place: 'machines',
      appliesTo: ({ role }) => role === 'Master',
      disrupts: true,
      act: backupStore(order),
    },
    {
      name: 'InstallPackage',
      does: 'check the offline package on the machine, and install its packages and images',
      needs: ['InstallProgram', 'BackupStore'],
      place: 'machines',
      applies: hasPackage,
      disrupts: true,
      act: installJobPackage(order),
    },
    {
      name: 'SwitchProgram',
      does: 'start the roles with the new program; pods go on running',
      needs: ['InstallProgram', 'BackupStore', 'InstallPackage'],
      place: 'machines',
      disrupts: true,
      act: switchProgram(order),
    },
    {
      name: 'MachineReady',
      does: 'wait until the site answers and the node is Ready with the new program',
      needs: ['SwitchProgram'],
      place: 'machines',
      disrupts: true,
      act: awaitProgram(order),
    },
    {
      name: 'RollBack',
      does: 'start the roles with the former program, and wait until the machine is Ready',
      needs: [],
      place: 'machines',
      disrupts: true,
      undoes: [...(hasPackage() ? ['InstallPackage'] : []), 'SwitchProgram', 'MachineReady'],
      act: rollBack(order),
    },
    {
      name: 'RemoveOldPrograms',
      does: 'remove programs but the present one and the one before',
      needs: ['MachineReady'],
      place: 'machines',
      disrupts: true,
      act: removeOldPrograms(order),
    },
  ]
}

function configureSteps(order: JobOrder): Step[] {
  return [
    {
      name: 'Configure',
      does: 'give the roles their new options, and start them; pods go on running',
      needs: ['CheckMachine'],
      place: 'machines',
      disrupts: true,
      act: configure(order),
    },
    {
      name: 'MachineReady',
      does: 'wait until the site answers and the node is Ready with the new options',
      needs: ['Configure'],
      place: 'machines',
      disrupts: true,
      act: awaitOptions(order),
    },
    {
      name: 'RollBack',
      does: 'put the former options back, and wait until the machine is Ready',
      needs: [],
      place: 'machines',
      disrupts: true,
      undoes: ['Configure', 'MachineReady'],
      act: restoreOptions(order),
    },
    {
      name: 'KeepOptions',
      does: 'keep the options for machines that join later, once all machines have them',
      needs: ['MachineReady'],
      place: 'machines',
      disrupts: true,
      act: keepForLater(order),
    },
  ]
}
