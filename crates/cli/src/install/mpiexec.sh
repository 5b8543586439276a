#!/bin/sh
# mpiexec: starts a program as the ranks of one world, as `motet run` does. Part of Motet @VERSION@.
#
# Here are the options that other launchers have in common and that mean something on one machine.
# What would change the run and is not known is an error, and never left out in silence.

here=$(dirname -- "$(readlink -f -- "$0")")

mistake() {
  # A word with a line break stays within the line, and one with a backslash is no escape of echo.
  printf 'mpiexec: %s; see `man mpiexec`\n' "$(printf %s "$1" | LC_ALL=C tr '[:cntrl:]' '?')" >&2
  exit 2
}

usage='Usage: mpiexec [-n N] [-l] [-env NAME VALUE] [-wdir FOLDER] PROGRAM [ARGUMENTS]...'
ranks=1 label='' hosts=''
while [ $# -gt 0 ]; do
  case $1 in
    -n | -np | --n | --np | --ranks)
      [ $# -gt 1 ] || mistake "'$1' needs a number"
      ranks=$2
      shift
      ;;
    -l | --label | -prepend-rank | --tag-output) label=--label ;;
    -env | -genv)
      [ $# -gt 2 ] || mistake "'$1' needs a name and a value"
      case $2 in
        '' | [0-9]* | *[!A-Za-z0-9_]*) mistake "'$2' cannot be the name of a variable" ;;
      esac
      export "$2=$3"
      shift 2
      ;;
    -x)
      [ $# -gt 1 ] || mistake "'-x' needs NAME or NAME=VALUE"
      case $2 in *=*) export "$2" ;; esac # all variables reach the ranks anyway
      shift
      ;;
    -wdir | --wdir | -wd)
      [ $# -gt 1 ] || mistake "'$1' needs a folder"
      cd -- "$2" || exit 1
      shift
      ;;
    # Refused by `motet run`, which says what to use instead.
    -hosts | --hosts | -host | --host | -H)
      [ $# -gt 1 ] || mistake "'$1' needs hosts"
      hosts=$2
      shift
      ;;
    # As it is without them: any number of ranks, any user, all variables.
    -genvall | -envall | --oversubscribe | -oversubscribe | --allow-run-as-root) ;;
    -V | --version | -version) exec "$here/motet" --version ;;
    -h | -help | --help)
      echo "$usage"
      exit 0
      ;;
    --)
      shift
      break
      ;;
    -*) mistake "there is no option '$1' here" ;;
    *) break ;;
  esac
  shift
done
[ $# -gt 0 ] || mistake 'a program is missing'
for word do
  [ "$word" != : ] || mistake "one program for all ranks: there is no ':' here"
done
exec "$here/motet" run -n "$ranks" $label ${hosts:+--hosts "$hosts"} -- "$@"
