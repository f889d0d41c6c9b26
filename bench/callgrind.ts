// Sums the counts of valgrind's callgrind (--cache-sim=yes --dump-instr=yes) for each function of JavaScript, using the
// map of compiled code that Node writes with --perf-basic-prof. Does not know what ran.

/** Counts in callgrind's order: instructions, loads, stores, then those that missed the first and the last cache. */
type Counts = readonly number[]

/** A function's cost in cycles; `own`: without `calls`, including callees that run no JavaScript. */
export interface FunctionCost {
  name: string
  own: number
  calls: Map<string, { count: number; cycles: number }>
}

/**
 * Assumed cycles: three instructions in one; a miss of the first cache, by an instruction and by a load; a miss of the
 * last one, which here stands for a core's own. Round figures that show what is large, not how long it takes.
 */
const CYCLES = { instruction: 1 / 3, code: 12, load: 6, codeFar: 40, loadFar: 40, storeFar: 10 }

const cyclesOf = ([Ir = 0, , , I1mr = 0, D1mr = 0, , ILmr = 0, DLmr = 0, DLmw = 0]: Counts): number =>
  Ir * CYCLES.instruction +
  I1mr * CYCLES.code +
  D1mr * CYCLES.load +
  ILmr * CYCLES.codeFar +
  DLmr * CYCLES.loadFar +
  DLmw * CYCLES.storeFar

/** Functions of V8 and Node that may run JavaScript, so that their cost includes that of others. */
const RUNS_JAVASCRIPT =
  /^Builtins_(?:Call|JSEntry|RunMicrotasks|JSRunMicrotasks|PromiseFulfill|Async|CompileLazy|Baseline|Construct|JSConstruct|JSBuiltinsConstruct|Interpreter|Array(?:Map|ForEach|Filter|Some|Every|Reduce|Find|From|Sort|PrototypeSort)|Promise|FunctionPrototype|Reflect|Resume|Generator|TypedArrayFrom|MapPrototypeForEach)|^v8::Function::Call|^node::|^uv_/

/** Whether this name is an address: compiled code has no other. */
const isCompiled = (name: string): boolean => /^(?:0x|\?\?\?)/.test(name)

const PAGE = 4096

/** Finds the name of compiled code by its address; if an address was used several times, the last name. */
function namesIn(map: string): (address: number) => string | undefined {
  const pages = new Map<number, { start: number; end: number; name: string }[]>()
  for (const line of map.split('\n')) {
    const [at = '', size = '', ...name] = line.split(' ')
    const start = parseInt(at, 16)
    const code = { start, end: start + parseInt(size, 16), name: name.join(' ') }
    for (let page = Math.floor(start / PAGE); page * PAGE < code.end; page++) {
      pages.set(page, [...(pages.get(page) ?? []), code])
    }
  }
  return address =>
    pages.get(Math.floor(address / PAGE))?.findLast(({ start, end }) => start <= address && address < end)?.name
}

/** A number as callgrind writes it: absolute, or relative to the one before. */
function after(before: number, text: string): number {
  if (text === '*') return before
  return text.startsWith('+')
    ? before + Number(text.slice(1))
    : text.startsWith('-')
      ? before - Number(text.slice(1))
      : Number(text)
}

/** The JavaScript functions in `output`, and the total cycles. `map`: from --perf-basic-prof. */
export function functionsIn(output: string, map: string): { functions: FunctionCost[]; total: number } {
  const nameAt = namesIn(map)
  const names = new Map<string, string>()
  /** `(12) name` defines 12 for the rest of the file. */
  const named = (text: string): string => {
    const [, id = '', name] = /^\((\d+)\)(?: (.*))?$/.exec(text) ?? []
    if (name !== undefined) names.set(id, name.replace(/'\d+$/, ''))
    return names.get(id) ?? ''
  }
  const functions = new Map<string, FunctionCost>()
  let [total, address, caller, callee, count] = [0, 0, '', '', 0]
  for (const line of output.split('\n')) {
    const [, key, value = ''] = /^(fn|cfn|calls)=(.*)$/.exec(line) ?? []
    if (key === 'fn') caller = named(value)
    else if (key === 'cfn') callee = named(value)
    else if (key === 'calls') count = parseInt(value, 10)
    else if (/^[\d+*-]/.test(line)) {
      const [at = '', , ...counts] = line.split(' ')
      address = after(address, at)
      const cycles = cyclesOf(counts.map(Number))
      const isCall = count > 0
      if (!isCall) total += cycles
      const name = isCompiled(caller) ? nameAt(address) : undefined
      if (name?.startsWith('JS:') === true) {
        const cost = functions.get(name) ?? { name, own: 0, calls: new Map() }
        functions.set(name, cost)
        if (!isCall) cost.own += cycles
        else if (!isCompiled(callee) && !RUNS_JAVASCRIPT.test(callee)) {
          const call = cost.calls.get(callee) ?? { count: 0, cycles: 0 }
          cost.calls.set(callee, { count: call.count + count, cycles: call.cycles + cycles })
        }
      }
      count = 0
    }
  }
  return { functions: [...functions.values()], total }
}
