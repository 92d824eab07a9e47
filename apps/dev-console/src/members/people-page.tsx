import { Avatar, Stack, Text } from '@mantine/core';
import { contract, type Person } from '@review/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { maxLengthOf } from '../bounds.ts';
import { useRefusal } from '../session/access.ts';
import { CopyableText } from '../ui/copyable-text.tsx';
import { EmptyState } from '../ui/empty-state.tsx';
import { ForbiddenHint } from '../ui/forbidden-hint.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { LongList } from '../ui/long-list.tsx';
import { MoreButton } from '../ui/more-button.tsx';
import { Page } from '../ui/page.tsx';
import rows from '../ui/rows.module.css';
import { SearchField } from '../ui/search-field.tsx';
import classes from './people-page.module.css';
import { peopleByNameQuery, peopleSearchQuery } from './queries.ts';

const route = getRouteApi('/console/people');

export function PeoplePage() {
  const { keyword = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const refusal = useRefusal();
  const unlistable = refusal(contract.members.listWorkspace);
  const unreadable = unlistable !== null && refusal(contract.members.list) !== null ? unlistable : null;
  return (
    <Page
      title="People"
      description={
        unlistable === null
          ? 'Everyone in this workspace. The operator adds people; each project has its own members.'
          : 'The members of your projects.'
      }
    >
      {unreadable !== null ? (
        <ForbiddenHint reason={unreadable} />
      ) : (
        <Stack gap="md">
          <SearchField
            label="Search people"
            placeholder={unlistable === null ? 'Search by name, address or id' : 'Search by name or address'}
            maxLength={maxLengthOf(contract.search.find.body.shape.keyword)}
            keyword={keyword}
            onSearch={(words, { replace }) =>
              void navigate({ search: { keyword: words === '' ? undefined : words }, replace })
            }
          />
          {unlistable === null ? <AllPeople keyword={keyword.trim()} /> : <FoundPeople keyword={keyword.trim()} />}
        </Stack>
      )}
    </Page>
  );
}

const folded = (text: string) => text.normalize('NFC').toLowerCase();

/** The people of the workspace. All are loaded, so they are searched here. */
function AllPeople({ keyword }: { keyword: string }) {
  return (
    <Loaded query={useQuery(peopleByNameQuery)}>
      {(all) => {
        const wanted = folded(keyword);
        const matching = all.filter(({ name, email, id }) =>
          [name, email, id].some((text) => folded(text).includes(wanted)),
        );
        return (
          <>
            <Text size="sm" c="dimmed" role="status">
              {keyword === '' ? counted(all.length) : `${matching.length} of ${counted(all.length)}`}
            </Text>
            {matching.length === 0 ? (
              <NoMatch keyword={keyword} fields="name, address or id" />
            ) : (
              <PeopleList people={matching.map(({ email, ...person }) => ({ ...person, address: email }))} />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** The members of the caller's projects, whom a key without the list of the workspace can only search for. */
function FoundPeople({ keyword }: { keyword: string }) {
  const query = useInfiniteQuery(peopleSearchQuery(keyword));
  if (keyword === '') {
    return (
      <EmptyState icon="search" title="Search for a member of your projects">
        This key lacks the scope workspace-members:read, so the people of the workspace are not listed. Type a part of a
        name or an e-mail address.
      </EmptyState>
    );
  }
  return (
    <Loaded query={query}>
      {(found) =>
        found.length === 0 ? (
          <NoMatch keyword={keyword} fields="name or address" />
        ) : (
          <>
            <PeopleList people={found} />
            <MoreButton query={query}>Show more people</MoreButton>
          </>
        )
      }
    </Loaded>
  );
}

const counted = (count: number) => (count === 1 ? '1 person' : `${count} people`);

/** `address` is null if the search found only the name. */
type Listed = Person & { address: string | null };

function PeopleList({ people }: { people: readonly Listed[] }) {
  const { person: chosen } = route.useSearch();
  return (
    <LongList label="People" className={rows.rows} items={people}>
      {({ id, name, avatarUrl, address }, place) => (
        <li
          key={id}
          {...place}
          className={rows.row}
          data-chosen={id === chosen || undefined}
          aria-current={id === chosen || undefined}
        >
          <Avatar src={avatarUrl} name={name} color="gray" alt="" size="sm" />
          <div className={rows.main}>
            <span className={rows.name}>{name}</span>
            {address !== null && <div className={rows.detail}>{address}</div>}
          </div>
          <div className={classes.id}>
            <CopyableText text={id} label={`the id of ${name}`} />
          </div>
        </li>
      )}
    </LongList>
  );
}

const NoMatch = ({ keyword, fields }: { keyword: string; fields: string }) => (
  <EmptyState icon="search" title="Nobody matches">
    No person has “{keyword}” in their {fields}.
  </EmptyState>
);
