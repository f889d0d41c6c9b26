// What /docs adds to Swagger UI: it asks for the token when a request needs one, offers to create the file that an
// example edits, and shows the message of each answer above it. Runs in a browser; knows the wire format only.
/* global SwaggerUIBundle */
const here = document.currentScript.src

const SELECTORS = ['occurrences', 'replace_all', 'occurrence']

/** The body of a request, with the failed edit replaced by a suggested one. */
function amend(body, edit, index) {
  const instead = old => ({
    ...Object.fromEntries(Object.entries(old).filter(([name]) => !SELECTORS.includes(name))),
    ...edit
  })
  return Array.isArray(body.edits)
    ? { ...body, edits: body.edits.map((old, i) => (i === index ? instead(old) : old)) }
    : instead(body)
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The routes whose examples need the file from an example of /create. */
const EDITS = ['/edit', '/edit-lines', '/edit-section', '/move', '/delete']

/** The example of /create that makes the file which an unchanged example of an edit needs; undefined if there is none. */
function missingFile({ url, body }, { paths }) {
  const examplesOf = route => Object.values(paths[route].post.requestBody.content['application/json'].examples)
  const route = EDITS.find(route => new URL(url).pathname.endsWith(route))
  const request = route && parsed(body)
  const same = ({ value }) => JSON.stringify(value) === JSON.stringify(request)
  if (request === undefined || !examplesOf(route).some(same)) return
  return examplesOf('/create').find(({ value }) => value.path === request.path)?.value
}

/** Merges a schema with those in its allOf. */
const merged = ({ allOf, ...own }) =>
  [...allOf, own].reduce((one, other) => ({
    ...one,
    ...other,
    properties: { ...one.properties, ...other.properties },
    required: [...(one.required ?? []), ...(other.required ?? [])]
  }))

/**
 * A part of the document with its references resolved, except those to a part that contains them. Swagger UI's own
 * function reads the whole document again (swagger-api/swagger-ui#10748): it takes 9 to 11 s for each opened operation,
 * this one 0.8 s, including everything that is shown then.
 */
async function resolveSubtree(document, path) {
  const at = keys => keys.reduce((value, key) => value?.[key], document)
  const target = ref => at(ref.slice(2).split('/'))
  const resolved = (value, within) => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(item => resolved(item, within))
    const ref = value.$ref
    // The name in $$ref is shown.
    if (ref !== undefined) {
      return within.includes(ref) ? value : { ...resolved(target(ref), [...within, ref]), $$ref: ref }
    }
    const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, within)]))
    return copy.allOf === undefined ? copy : merged(copy)
  }
  return { spec: resolved(at(path), []), errors: [] }
}

/** The message, fixes or diff of a live answer, shown above the answer itself. */
const inWords =
  ({ React: { createElement: h, useState }, oas3Actions, oas3Selectors }) =>
  ({ path, method, answer, create }) => {
    const [failed, setFailed] = useState('')
    const take = edit => {
      const body = parsed(oas3Selectors.requestBodyValue(path, method))
      if (body !== undefined) {
        oas3Actions.setRequestBodyValue({
          value: JSON.stringify(amend(body, edit, answer.edit_index), null, 2),
          pathMethod: [path, method]
        })
      }
    }
    const fix = ({ suggestion, example, edit }, i) =>
      h(
        'li',
        { key: i },
        suggestion,
        edit ? h('pre', null, JSON.stringify(edit, null, 2)) : example && h('pre', null, example),
        edit && h('button', { className: 'btn', type: 'button', onClick: () => take(edit) }, 'Put into the request')
      )
    if (answer.code === undefined) {
      return h(
        'div',
        { className: 'in-words done' },
        h('p', null, answer.message),
        answer.diff && h('pre', null, answer.diff)
      )
    }
    return h(
      'div',
      { className: 'in-words problem', role: 'alert' },
      h('h4', null, answer.title, ' ', h('code', null, answer.code)),
      h('p', null, answer.detail),
      create &&
        h(
          'button',
          { className: 'btn', type: 'button', onClick: () => create.run().then(setFailed) },
          `Create ${create.path}, and send this again`
        ),
      failed && h('p', null, failed),
      answer.suggested_fixes?.length > 0 && h('ol', null, answer.suggested_fixes.map(fix))
    )
  }

window.onload = () => {
  /** The last request, which is sent again once there is a token. */
  let sent
  let waiting = false
  /** The last request as it went out, with its headers. */
  let last
  /**
   * What makes the missing file of the last request and sends that again, or resolves with why it can't; undefined if
   * no example makes it.
   */
  function offerOfFile() {
    const file = missingFile(last, ui.specSelectors.specJson().toJS())
    if (file === undefined) return
    const { url, headers } = last
    const run = async () => {
      const answer = await fetch(new URL('create', url), { method: 'POST', headers, body: JSON.stringify(file) })
      if (!answer.ok) return (await answer.json()).detail
      ui.specActions.execute(sent)
    }
    return { path: file.path, run }
  }
  const ui = SwaggerUIBundle({
    dom_id: '#swagger-ui',
    url: new URL('../../openapi.json', here).href,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    validatorUrl: null,
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    plugins: [
      {
        fn: { resolveSubtree },
        statePlugins: {
          spec: {
            wrapActions: {
              execute: original => request => {
                sent = request
                return original(request)
              }
            }
          },
          auth: {
            wrapActions: {
              authorize: original => given => {
                const done = original(given)
                const again = waiting
                ui.authActions.showDefinitions(false)
                if (again) ui.specActions.execute(sent)
                return done
              },
              showDefinitions: original => shown => {
                if (!shown) waiting = false
                return original(shown)
              }
            }
          }
        },
        wrapComponents: {
          // A route has many problems: each is one line until a reader opens it.
          response:
            (Original, { React: { createElement: h, useState } }) =>
            props => {
              const [isOpen, setOpen] = useState(props.code.startsWith('2'))
              return isOpen
                ? h(Original, props)
                : h(
                    'tr',
                    { className: 'response' },
                    h('td', { className: 'response-col_status' }, props.code),
                    h(
                      'td',
                      { className: 'response-col_description' },
                      props.response.get('description'),
                      ' ',
                      h('button', { className: 'more', type: 'button', onClick: () => setOpen(true) }, 'Show')
                    )
                  )
            },
          liveResponse: (Original, system) => {
            const InWords = inWords(system)
            const { createElement: h, Fragment } = system.React
            return props => {
              const answer = parsed(props.response.get('text'))
              const { path, method } = props
              const create = answer?.code === 'FILE_NOT_FOUND' ? offerOfFile() : undefined
              return h(
                Fragment,
                null,
                (answer?.code ?? answer?.message) && h(InWords, { path, method, answer, create }),
                h(Original, props)
              )
            }
          }
        }
      }
    ],
    requestInterceptor: request => {
      if (!request.loadSpec) last = request
      return request
    },
    responseInterceptor: response => {
      if (response.status === 401) {
        // The dialog has no field for a new token while it has one.
        if (ui.authSelectors.authorized()?.size > 0) ui.authActions.logout(['bearer'])
        ui.authActions.showDefinitions(ui.authSelectors.definitionsToAuthorize())
        waiting = true
      }
      return response
    }
  })
}

document.documentElement.classList.toggle('dark-mode', window.matchMedia('(prefers-color-scheme: dark)').matches)
