/** The form of a new edge cluster. The hub checks it at each pause, and says where something is wrong. */
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { edgeClusters } from '../../data/edge/edge-cluster.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { withLogins } from '../../data/hub/login-secret.ts'
import type { Action } from '../../data/hub/rights.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { writeYaml } from '../../data/objects/yaml-writer.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { checkFaults } from './check-faults.ts'
import { CheckPanel } from './check-panel.tsx'
import { ClusterFields, ControlPlaneFields } from './cluster-fields.tsx'
import {
  edgeClusterOf,
  emptyForm,
  faultsByField,
  hasLogins,
  loginsOf,
  type ClusterForm,
} from './cluster-form.ts'
import { MachineFields } from './machine-fields.tsx'
import { texts as both } from './texts.ts'
import { edgeClustersPath, useDryRun, type DryRun } from './use-dry-run.ts'
import { useMachineCheck } from './use-machine-check.ts'

export function EdgeClusterFormPage() {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const [form, setForm] = useState<ClusterForm>(emptyForm)
  const { isBusy, fault: refused, run } = useAction()
  const check = useMachineCheck(form)
  // The name is taken by the check.
  const dryRun = useDryRun(form, !check.isBegun)
  const set = (change: Partial<ClusterForm>): void => setForm({ ...form, ...change })
  const fault = refused ?? dryRun.error
  const ofForm = faultsByField(fault?.facts.causes ?? [])
  const ofMachines = check.edge === undefined ? [] : checkFaults(form, check.edge)
  const faults = new Map([...ofMachines, ...ofForm])
  const page = `/edge-clusters/${encodeURIComponent(form.namespace)}/${encodeURIComponent(form.name)}`
  const create = async (): Promise<void> => {
    const write = async (): Promise<void> => {
      await askJson(edgeClustersPath(form), { method: 'POST', body: edgeClusterOf(form) })
    }
    const act = check.isBegun ? check.make : () => withLogins(loginsOf(form), write)
    if (await run(act)) navigate(page)
  }
  const isComplete = form.name !== '' && hasLogins(form)
  const isChecked = check.isCurrent && check.edge?.status?.phase === 'Checked'
  const isReady = check.isBegun ? isChecked : dryRun.isGood
  return (
    <PageFrame title={texts.title} above={<Link href="/edge-clusters">{texts.above}</Link>}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <ClusterFields form={form} faults={faults} set={set} isNamed={check.isBegun} />
        <ControlPlaneFields form={form} faults={faults} set={set} />
        <MachineFields form={form} faults={faults} set={set} />
        {check.edge === undefined ? undefined : (
          <CheckPanel edge={check.edge} ask={(wish) => void run(() => check.ask(wish))} />
        )}
        <div className="form-end">
          {ofForm.size > Number(ofForm.has('')) ? undefined : <FaultLine fault={fault} />}
          <Buttons
            form={form}
            check={check}
            run={(act) => void run(act)}
            isOn={{
              check: !isBusy && isComplete && (dryRun.isGood || check.isBegun),
              create: !isBusy && isComplete && isReady,
            }}
          />
          {check.isBegun ? undefined : (
            <DryRunState dryRun={dryRun} isEmpty={form.name === ''} faults={faults.size} />
          )}
          <span className="page-space" />
          <CopyButton label={texts.asYaml} text={writeYaml(edgeClusterOf(form))} />
        </div>
      </form>
    </PageFrame>
  )
}

interface ButtonsProps {
  readonly form: ClusterForm
  readonly check: ReturnType<typeof useMachineCheck>
  readonly run: (act: () => Promise<void>) => void
  readonly isOn: { readonly check: boolean; readonly create: boolean }
}

/** A user who may not create edge clusters there is told so before anything is filled in. */
function Buttons({ form, check, run, isOn }: ButtonsProps) {
  const texts = useTexts(both)
  return (
    <Allowed action={createIn(form)} isExplained isLenient>
      <button
        type="button"
        className="button"
        disabled={!isOn.check}
        onClick={() => run(check.begin)}
      >
        {check.isBegun ? texts.checkAgain : texts.checkMachines}
      </button>
      {check.isBegun ? (
        <button type="button" className="button" onClick={() => run(check.forget)}>
          {texts.forgetCheck}
        </button>
      ) : undefined}
      <button type="submit" className="button is-main" disabled={!isOn.create}>
        {texts.create}
      </button>
    </Allowed>
  )
}

function createIn({ namespace }: ClusterForm): Action {
  return {
    verb: 'create',
    object: { ...edgeClusters, namespace: namespace || 'default', name: '' },
  }
}

interface DryRunStateProps {
  readonly dryRun: DryRun
  readonly isEmpty: boolean
  readonly faults: number
}

function DryRunState({ dryRun, isEmpty, faults }: DryRunStateProps) {
  const texts = useTexts(both)
  if (isEmpty) return undefined
  if (dryRun.isRunning) return <span className="muted">{texts.checking}</span>
  if (dryRun.isGood) {
    return (
      <span className="tone-ok freshness">
        ● {texts.good} {dryRun.capacity === undefined ? '' : `(${dryRun.capacity})`}
      </span>
    )
  }
  return <span className="tone-bad freshness">✕ {texts.faults(Math.max(1, faults))}</span>
}
