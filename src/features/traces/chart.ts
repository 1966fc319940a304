/** The running machine as data, for display (contract section 8). */
import type { AnyStateMachine } from 'xstate'
import { sessionMachine } from '../../actors/session/machine.ts'

export interface ChartState {
  /** Path of the state: `idle`, `streaming.settling`, … */
  id: string
  kind: 'atomic' | 'compound' | 'parallel' | 'final' | 'history'
  description: string
  parent: string | null
}

export interface ChartTransition {
  id: string
  source: string
  target: string
  event: string
  description: string
}

export interface SessionChart {
  id: string
  initial: string
  states: ChartState[]
  transitions: ChartTransition[]
}

type Node = AnyStateMachine['root']

const pathOf = (node: Node): string => node.path.join('.')

function addStates(node: Node, chart: SessionChart): void {
  for (const child of Object.values(node.states)) {
    chart.states.push({
      id: pathOf(child),
      kind: child.type,
      description: child.description ?? '',
      parent: child.parent && child.parent.path.length > 0 ? pathOf(child.parent) : null,
    })
    for (const [event, transitions] of child.transitions) {
      for (const { target, description } of transitions) {
        for (const to of target ?? []) {
          const id = `${pathOf(child)}:${event}:${pathOf(to)}`
          chart.transitions.push({
            id,
            source: pathOf(child),
            target: pathOf(to),
            event,
            description: description ?? '',
          })
        }
      }
    }
    addStates(child, chart)
  }
}

/** States and transitions in the order of their definition. */
export function chartOf({ id, root }: AnyStateMachine): SessionChart {
  const chart: SessionChart = { id, initial: initialOf(root), states: [], transitions: [] }
  addStates(root, chart)
  return chart
}

const initialOf = ({ initial }: Node): string => initial.target.map(pathOf).join()

export const sessionChart = (): SessionChart => chartOf(sessionMachine)

/**
 * Returns the chart as a `stateDiagram-v2` of Mermaid. A transition between two states of one parent stands in that
 * parent.
 */
export function mermaidChart(): string {
  const { states, transitions } = sessionChart()
  const parentOf = (id: string) => states.find((state) => state.id === id)?.parent ?? null
  const nameOf = (id: string) => id.replaceAll('.', '_')
  const linesIn = (node: Node): string[] => {
    const parent = node.path.length > 0 ? pathOf(node) : null
    const isHere = (one: ChartTransition) => {
      const own = parentOf(one.source) === parentOf(one.target) ? parentOf(one.source) : null
      return own === parent
    }
    return [
      `[*] --> ${nameOf(initialOf(node))}`,
      ...Object.values(node.states).flatMap((child) => {
        const id = pathOf(child)
        if (child.type === 'compound')
          return [`state ${nameOf(id)} {`, ...linesIn(child).map((line) => `    ${line}`), '}']
        const named = `state "${child.key}" as ${nameOf(id)}`
        return child.type === 'final' ? [named, `${nameOf(id)} --> [*]`] : [named]
      }),
      ...transitions
        .filter(isHere)
        .map(({ source, target, event }) => `${nameOf(source)} --> ${nameOf(target)} : ${event}`),
    ]
  }
  return `${['stateDiagram-v2', ...linesIn(sessionMachine.root).map((line) => `    ${line}`)].join('\n')}\n`
}

export interface MachineConfig {
  id: string
  context: Record<string, unknown>
  initial: string
  states: Record<string, unknown>
}

/**
 * Returns the chart as a configuration for XState's `createMachine`: what JSON can say of it, with guards, actions and
 * actors by name.
 */
export function machineConfig(): MachineConfig {
  return JSON.parse(JSON.stringify(sessionMachine.config))
}

/**
 * Returns the chart's transition that a recorded step took: edges end at compound states, steps at the innermost ones.
 */
export function transitionTaken(
  transitions: readonly ChartTransition[],
  step: { from: string; to: string; event: string },
): ChartTransition | undefined {
  const isWithin = (state: string, ancestor: string) => state === ancestor || state.startsWith(`${ancestor}.`)
  return transitions.find(
    ({ source, target, event }) => event === step.event && isWithin(step.from, source) && isWithin(step.to, target),
  )
}
